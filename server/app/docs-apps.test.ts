import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDemandingService, type DemandingService } from '../testing/demanding-service.ts';
import { startChatApp, type ChatApp } from '../testing/start-chat-app.ts';

const PAGE = resolve(import.meta.dirname, '../../docs/apps.md');
const hasTools = ['curl', 'jq'].every((program) => spawnSync(program, ['--version']).status === 0);

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

/** The commands of a page, in its order, against this service and this CRM. */
async function commandsOf(page: string): Promise<string> {
  const text = await readFile(page, 'utf8');
  const blocks = Array.from(text.matchAll(/```sh\n(.*?)```/gs), ([, block]) => block ?? '');
  expect(blocks.length).toBeGreaterThan(5);
  return blocks
    .join('echo\n')
    .replaceAll('http://127.0.0.1:8080', it.app.url)
    .replaceAll('https://crm.example.com/api', service.baseUrl)
    .replaceAll('curl -s', 'curl -s --fail-with-body');
}

test.runIf(hasTools)('the commands of docs/apps.md work one after the other', async () => {
  it.play([{ toolCalls: [{ name: 'orders', input: {} }] }, { text: ['Seventeen.'] }]);
  const other = await it.app.createDeveloper();
  const shell = spawn('bash', ['-e', '-o', 'pipefail', '-c', await commandsOf(PAGE)], {
    env: { PATH: process.env['PATH'], TESSERA_KEY: it.developer().key, OTHER_KEY: other.key },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (part) => (output += String(part)));
  const [code] = await once(shell, 'close');
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
