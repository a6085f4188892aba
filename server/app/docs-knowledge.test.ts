import { afterAll, beforeAll, expect, test } from 'vitest';
import { canRunPages, runPage } from '../testing/page-commands.ts';
import { startTestApp, type TestApp } from '../testing/start-test-app.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

test.runIf(canRunPages)('the commands of docs/knowledge.md find what they look for', async () => {
  const developer = await app.createDeveloper();
  const { code, output } = await runPage('knowledge.md', {
    replace: { 'http://127.0.0.1:8080': app.url },
    env: { TESSERA_KEY: developer.key },
  });
  expect({ code, output }).toMatchObject({ code: 0 });
  for (const text of ['Customers get their money back within 30 days.', '订单在付款后三天内发货。']) {
    expect(output).toContain(`"text":"${text}"`);
  }
});
