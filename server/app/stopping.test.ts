import { readdir } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { databaseUrlOf, postgresPid } from '../testing/data-dirs.ts';
import { COUNTS, holdChats, isRefused, outcomeOf, type HeldChats } from '../testing/held-chats.ts';
import { queryRows } from '../testing/query-rows.ts';
import { ADMIN_KEY, callApi, pick } from '../testing/start-test-app.ts';
import { cleanUpProcesses, spawnProcess, startProcess, type ServiceProcess } from '../testing/start-process.ts';

let held: HeldChats;
beforeEach(async () => {
  held = await holdChats();
});
afterEach(async () => {
  await cleanUpProcesses();
  await held.vendor.close();
});

/** Nothing is wrong with a stop that was asked for. */
function expectNoComplaint(service: ServiceProcess): void {
  expect(service.warnings()).toEqual([]);
  expect(service.stderr()).toBe('');
}

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', (name) => {
  test('lets a chat finish, tells its connection to close, flushes what was counted and stops the database', async () => {
    const { service, reply } = await held.startWithChat();
    const call = () => callApi(service.url, { method: 'GET', path: '/v1/tools', key: ADMIN_KEY });
    await Promise.all(Array.from({ length: 50 }, call));
    service.signal(name);
    await expect.poll(() => isRefused(service.url)).toBe(true);
    held.release({ text: 'Done.' });
    expect(await reply).toMatchObject({ status: 200, headers: { connection: 'close' } });
    expect(pick(JSON.parse((await reply).text), 'response')).toBe('Done.');
    expect(await service.exited).toEqual({ code: 0, signal: null });
    expect(await postgresPid(service.dataDir)).toBeUndefined();
    expectNoComplaint(service);

    const again = await startProcess({ dataDir: service.dataDir, env: held.env });
    const rows = await queryRows(databaseUrlOf(service.dataDir), COUNTS);
    expect(rows).toEqual([{ logged: 51, counted: 51, outcomes: 'finished' }]);
    await again.stop();
  });
});

test('a second signal ends it at once; the database is found again', async () => {
  const { service, reply } = await held.startWithChat();
  const outcome = outcomeOf(reply);
  service.signal('SIGTERM');
  // The same signal twice within moments is one: npm passes on what the terminal has sent already.
  await expect.poll(() => isRefused(service.url)).toBe(true);
  const began = performance.now();
  const insist = setInterval(() => service.signal('SIGINT'), 50);
  expect(await service.exited).toEqual({ code: 130, signal: null });
  clearInterval(insist);
  expect(await outcome).toBe('cut');
  expect(performance.now() - began).toBeLessThan(2000);
  const again = await startProcess({ dataDir: service.dataDir, env: held.env });
  expect((await again.stop()).code).toBe(0);
});

describe('a signal while it starts', () => {
  test.each(['postgres.new-', 'postgres.log'])(
    'once there is %s: stops cleanly and leaves no database',
    async (file) => {
      const service = await spawnProcess();
      const names = (): Promise<string[]> => readdir(service.dataDir);
      await expect
        .poll(async () => (await names()).some((name) => name.startsWith(file)), { interval: 5, timeout: 10_000 })
        .toBe(true);
      service.signal('SIGTERM');
      expect(await service.exited).toEqual({ code: 0, signal: null });
      expect(service.stdout()).not.toContain('is ready');
      expectNoComplaint(service);
      expect(await postgresPid(service.dataDir)).toBeUndefined();
    },
  );
});

describe('below npm start', () => {
  test.each(['group', 'npm'])('a signal to %s stops the service cleanly', async (whom) => {
    const { service, reply } = await held.startWithChat({ byNpm: true });
    if (whom === 'group') service.signalGroup('SIGINT');
    else service.signal('SIGTERM');
    await expect.poll(() => isRefused(service.url)).toBe(true);
    held.release({ text: 'Done.' });
    expect((await reply).status).toBe(200);
    await service.exited;
    expect(service.warnings()).toEqual([]);
    expect(await postgresPid(service.dataDir)).toBeUndefined();
  });
});
