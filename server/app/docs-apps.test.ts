import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDemandingService, type DemandingService } from '../testing/demanding-service.ts';
import { canRunPages, runPage } from '../testing/page-commands.ts';
import { startChatApp, type ChatApp } from '../testing/start-chat-app.ts';

let it: ChatApp;
let service: DemandingService;

beforeAll(async () => {
  it = await startChatApp();
  service = await startDemandingService(['my-own-token-for-the-crm']);
  await it.begin();
});
afterAll(async () => {
  await it.stop();
  service.close();
});

test.runIf(canRunPages)('the commands of docs/apps.md work one after the other', async () => {
  it.play([{ toolCalls: [{ name: 'orders', input: {} }] }, { text: ['Seventeen.'] }]);
  const other = await it.app.createDeveloper();
  const { code, output } = await runPage('apps.md', {
    replace: { 'http://127.0.0.1:8080': it.app.url, 'https://crm.example.com/api': service.baseUrl },
    env: { TESSERA_KEY: it.developer().key, OTHER_KEY: other.key },
  });
  expect({ code, output }).toMatchObject({ code: 0 });
  for (const said of [
    '"status":"published"',
    '"credentials": [',
    '"status":"configured"',
    'Seventeen.',
    '"success":true',
  ]) {
    expect(output).toContain(said);
  }
  expect(output.match(/"status": "ok"/g)).toHaveLength(2);
  expect(output).not.toContain('kept-to-ourselves');
  expect(JSON.stringify(it.vendor.requests[0]?.body)).toContain('need a second warehouse');
});
