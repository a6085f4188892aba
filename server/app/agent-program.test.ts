import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startChatApp, type ChatApp } from '../testing/start-chat-app.ts';
import { cleanUpAgents, startAgent, type AgentProcess } from '../testing/start-agent.ts';
import { startTestApp, type Answer } from '../testing/start-test-app.ts';

let it: ChatApp;
let folder: string;
beforeAll(async () => {
  it = await startChatApp();
});
afterAll(() => it.stop());
beforeEach(async () => {
  await it.begin();
  folder = await mkdtemp(join(tmpdir(), 'tessera-handlers-'));
});
afterEach(async () => {
  await cleanUpAgents();
  await rm(folder, { recursive: true });
});

function run(args: readonly string[], env: Record<string, string> = {}): AgentProcess {
  return startAgent(['--url', it.app.url, ...args], { TESSERA_API_KEY: it.developer().key, ...env });
}

/** Starts an agent with the handlers of the folder, registered as tools. */
async function connect(args: readonly string[] = []): Promise<AgentProcess> {
  const agent = run(['--handlers', folder, '--register', '--name', 'desk', ...args]);
  await agent.waitFor('connected to');
  return agent;
}

async function addHandler(name: string, body: string): Promise<void> {
  const source = `export const name = '${name}';\nexport const description = 'Does ${name}.';\n${body}\n`;
  await writeFile(join(folder, `${name}.mjs`), source);
}

function callTool(tool: string, input: object = {}): Promise<Answer> {
  return it.app.call('POST', '/v1/ai/tool-call', { key: it.developer().key, body: { tool, input } });
}

const SLOW = `export const run = async (input, { signal }) => {
  console.log('began');
  await new Promise((resolve) => { setTimeout(resolve, input.ms); signal.addEventListener('abort', resolve); });
  return signal.aborted ? 'aborted' : 'finished';
};`;

describe('the handlers of examples/handlers', () => {
  test('a chat calls one on a real agent, and answers with what it gave', async () => {
    await writeFile(join(folder, 'notes.txt'), 'The boiler is due in May.');
    const agent = run(['--handlers', 'examples/handlers', '--register'], { HANDLER_FOLDER: folder });
    await agent.waitFor('connected to');
    it.play([
      { toolCalls: [{ name: 'list_files', input: {} }] },
      { toolCalls: [{ name: 'read_file', input: { file: 'notes.txt' } }] },
      { text: 'In May.' },
    ]);
    expect(await it.chat({ message: 'When is the boiler due?' })).toMatchObject({ body: { response: 'In May.' } });
    expect(JSON.stringify(it.vendor.requests[1]?.body)).toContain('notes.txt');
    expect(JSON.stringify(it.vendor.requests[2]?.body)).toContain('The boiler is due in May.');
    await expect
      .poll(it.eventRows)
      .toMatchObject([
        { type: 'tool.executed', data: { toolName: 'list_files' } },
        { type: 'tool.executed', data: { toolName: 'read_file' } },
        { type: 'ai.conversation' },
      ]);
    expect(agent.output()).toMatch(/T\S+Z read_file ok \d+ ms/);
    expect(await callTool('read_file', { file: '../secret' })).toMatchObject({
      status: 500,
      body: { error: { message: '"../secret" is not the name of a file here.' } },
    });
  });
});

describe('the agent', () => {
  test('tells of modules that are no handlers, and serves the others', async () => {
    await addHandler('good', 'export const run = () => 1;');
    await addHandler('without_run', '');
    await writeFile(join(folder, 'broken.mjs'), 'export const = ;');
    const agent = await connect();
    expect(agent.output()).toContain('broken.mjs is left out');
    expect(agent.output()).toContain('without_run.mjs is left out: it exports no function "run"');
    expect((await callTool('good')).body).toMatchObject({ result: 1 });
  });

  test('runs only what is allowed', async () => {
    await addHandler('good', 'export const run = () => 1;');
    await addHandler('other', 'export const run = () => 2;');
    await connect();
    await cleanUpAgents();
    await connect(['--allow', 'good']);
    expect((await callTool('good')).status).toBe(200);
    expect((await callTool('other')).status).toBe(404);
  });

  test('asks first when it is told to', async () => {
    await addHandler('good', 'export const run = () => 1;');
    const agent = await connect(['--ask']);
    const first = callTool('good', { a: 1 });
    await agent.waitFor('Run good with {"a":1}? [y/N]');
    agent.type('y');
    expect((await first).body).toMatchObject({ result: 1 });
    const second = callTool('good', { a: 2 });
    await agent.waitFor('Run good with {"a":2}? [y/N]');
    agent.type('');
    expect(await second).toMatchObject({
      status: 500,
      body: { error: { message: expect.stringContaining('refused') } },
    });
  });

  test('tells of what a handler throws, of too large a result, and of what JSON cannot carry', async () => {
    await addHandler('throws', `export const run = () => { throw new Error('No paper.'); };`);
    await addHandler('large', `export const run = () => 'x'.repeat(6e6);`);
    await addHandler('nothing', 'export const run = () => undefined;');
    await connect();
    expect((await callTool('throws')).body).toMatchObject({ error: { message: 'No paper.' } });
    expect((await callTool('large')).body).toMatchObject({ error: { message: expect.stringContaining('5242880') } });
    expect((await callTool('nothing')).body).toMatchObject({ status: 'success', result: null });
  });

  test('finishes the call under way on SIGINT and leaves; no further call is sent to it', async () => {
    await addHandler('slow', SLOW);
    const agent = await connect();
    const answer = callTool('slow', { ms: 800 });
    await agent.waitFor('began');
    agent.signal('SIGINT');
    await expect.poll(async () => (await callTool('slow', { ms: 0 })).status).toBe(404);
    expect((await answer).body).toMatchObject({ result: 'finished' });
    expect(await agent.exited).toEqual({ code: 0 });
  });

  test('a second SIGINT leaves at once', async () => {
    await addHandler('slow', SLOW);
    const agent = await connect();
    const answer = callTool('slow', { ms: 60_000 });
    await agent.waitFor('began');
    agent.signal('SIGINT');
    await agent.waitFor('leaving');
    agent.signal('SIGINT');
    expect(await agent.exited).toEqual({ code: 0 });
    expect(await answer).toMatchObject({
      status: 500,
      body: { error: { message: expect.stringContaining('disconnected') } },
    });
  });

  test('comes back by itself to a service that was away', async () => {
    const { port } = new URL(it.app.url);
    await addHandler('good', 'export const run = () => 1;');
    const env = { ...it.vendorEnv, DATABASE_URL: it.app.databaseUrl };
    const first = await startTestApp(env);
    const address = new URL(first.url);
    expect(address.port).not.toBe(port);
    const agent = startAgent(['--url', first.url, '--handlers', folder], { TESSERA_API_KEY: it.developer().key });
    await agent.waitFor('connected to');
    await first.stop();
    await agent.waitFor('disconnected: The service is stopping.');
    const second = await startTestApp({ ...env, PORT: address.port });
    await agent.waitFor(/connected to[^]*connected to/);
    await second.stop();
  });

  test.each([
    ['no folder', [], 2, '--handlers is required'],
    ['a folder that is not there', ['--handlers', '/nowhere'], 1, 'no such file'],
    ['an unknown option', ['--handlers', '.', '--frob'], 2, '--frob'],
    ['a refused key', ['--handlers', 'examples/handlers', '--key', 'wrong'], 1, 'answered 401'],
    ['help', ['--help'], 0, 'Usage: tessera agent'],
  ])('%s', async (_what, args, code, text) => {
    const agent = run(args);
    expect(await agent.exited).toEqual({ code });
    expect(agent.output()).toContain(text);
  });
});
