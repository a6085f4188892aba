import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ADMIN_KEY, callApi, pick, startTestApp, type Answer, type TestApp } from '../testing/start-test-app.ts';
import { createTestDatabase, type TestDatabase } from '../testing/test-database.ts';
import { postgresPid, signalPostgres } from '../testing/data-dirs.ts';
import { cleanUpProcesses, startProcess, type ServiceProcess } from '../testing/start-process.ts';

let app: TestApp;
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  app = await startTestApp({ DATABASE_URL: database.url });
});
afterEach(cleanUpProcesses);
afterAll(async () => {
  await app.stop();
  await database.drop();
});

/** Every answer is a success or says UNAVAILABLE; never a fault. */
function expectHonest(answers: readonly Answer[]): void {
  const odd = answers.filter(({ status, body }) => {
    return status >= 400 && !(status === 503 && pick(body, 'error', 'code') === 'UNAVAILABLE');
  });
  expect(odd.map(({ status, body }) => ({ status, body }))).toEqual([]);
}

test('requests during and after the loss of every connection work or answer 503', { timeout: 60_000 }, async () => {
  const answers: Answer[] = [];
  const over = new AbortController();
  const ask = async (worker: number): Promise<void> => {
    for (let i = 0; !over.signal.aborted; i++) {
      const name = `tool_${worker}_${i}`;
      answers.push(await app.call('POST', '/v1/tools', { body: { name, description: 'x' } }));
      answers.push(await app.call('GET', `/v1/tools/${name}`));
    }
  };
  const asking = Promise.all(Array.from({ length: 8 }, (_, worker) => ask(worker)));
  for (let round = 0; round < 5; round++) {
    const before = answers.length;
    await database.breakConnections();
    await expect.poll(() => answers.length).toBeGreaterThan(before + 40);
  }
  over.abort();
  await asking;
  expectHonest(answers.filter(({ status }) => status !== 404));
  expect((await app.call('GET', '/v1/tools')).status).toBe(200);
  expect((await callApi(app.url, { method: 'GET', path: '/readyz' })).status).toBe(200);
});

async function readiness(service: ServiceProcess): Promise<number> {
  return (await callApi(service.url, { method: 'GET', path: '/readyz' })).status;
}

test('/readyz tells of a database that hangs, and of its return', async () => {
  const service = await startProcess({ env: { BOOTSTRAP_API_KEY: ADMIN_KEY } });
  await signalPostgres(service.dataDir, 'SIGSTOP');
  expect(await readiness(service)).toBe(503);
  expect((await callApi(service.url, { method: 'GET', path: '/healthz' })).status).toBe(200);
  await signalPostgres(service.dataDir, 'SIGCONT');
  await expect.poll(() => readiness(service), { timeout: 20_000 }).toBe(200);
  expect((await service.stop()).code).toBe(0);
});

test('a database that is killed is brought back', async () => {
  const service = await startProcess({ env: { BOOTSTRAP_API_KEY: ADMIN_KEY } });
  const write = (name: string): Promise<Answer> =>
    callApi(service.url, { method: 'POST', path: '/v1/tools', key: ADMIN_KEY, body: { name, description: 'x' } });
  expect((await write('before')).status).toBe(201);
  await signalPostgres(service.dataDir, 'SIGKILL');
  const answers: Answer[] = [];
  await expect
    .poll(async () => {
      const answer = await write(`during_${answers.length}`);
      answers.push(answer);
      return answer.status;
    })
    .not.toBe(201);
  await expect.poll(() => readiness(service), { timeout: 20_000 }).toBe(200);
  answers.push(await write('after'));
  expectHonest(answers);
  await expect.poll(async () => (await write(`again_${answers.length}`)).status).toBeLessThan(500);
  expect((await service.stop()).code).toBe(0);
  expect(await postgresPid(service.dataDir)).toBeUndefined();
});
