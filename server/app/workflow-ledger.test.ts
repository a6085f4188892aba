import { randomInt } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { databaseUrlOf, makeDataDir } from '../testing/data-dirs.ts';
import { queryRows } from '../testing/query-rows.ts';
import { openRunLedger, startTargets, type Effect, type RunLedger } from '../testing/run-ledger.ts';
import { ADMIN_KEY, callApi, pick } from '../testing/start-test-app.ts';
import { cleanUpProcesses, startProcess } from '../testing/start-process.ts';
import { troublePostgres } from '../testing/trouble-postgres.ts';

afterEach(cleanUpProcesses);

/** A long run by hand sets LEDGER_ROUNDS. */
const ROUNDS = Number(process.env['LEDGER_ROUNDS'] ?? 6);
const PUBLISHERS = 5;
/** A run that was under way at a kill goes on after its lease of 20 s. */
const LATEST_END_MS = 120_000;
/** Runs of which the API is asked at the end. */
const SHOWN = 100;

/** Waits for a random number of further runs. */
async function someMore({ accepted }: RunLedger): Promise<void> {
  const enough = accepted.size + randomInt(5, 60);
  await expect.poll(() => accepted.size, { timeout: 30_000, interval: 2 }).toBeGreaterThan(enough);
}

interface Row {
  id: string;
  workflowId: string;
  status: string;
  data: Record<string, unknown>;
  /** By node: its status, and Unix milliseconds at which the attempt that counts ended. */
  steps: Record<string, { status: string; attempts: number; endMs: number }> | null;
  ends: number;
}

const RUNS = `select id, workflow_id as "workflowId", status, trigger_data as data,
    (select json_object_agg(node_id, json_build_object('status', s.status, 'attempts', s.attempts,
      'endMs', extract(epoch from s.completed_at) * 1000)) from workflow_steps s where s.developer_id = r.developer_id and s.run_id = r.id) as steps,
    (select count(*)::int from outbox_events e
      where e.type in ('workflow.completed', 'workflow.failed') and e.data ->> 'runId' = r.id) as ends
  from workflow_runs r order by id`;

async function readRuns(url: string): Promise<Row[]> {
  await queryRows(url, `create index if not exists ledger_ends on outbox_events ((data ->> 'runId'))`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the columns of the statement above
  return (await queryRows(url, RUNS)) as unknown as Row[];
}

const MIXED = { call: 'success', tool: 'success', check: 'success', ask: 'success', never: 'skipped', mail: 'success' };

function statusesOf({ steps }: Row): Record<string, string> {
  return Object.fromEntries(Object.entries(steps ?? {}).map(([id, { status }]) => [id, status]));
}

/** Every run that was accepted is there and completed, each step settled once, its end told of once. */
function expectAllEnded(runs: readonly Row[], ledger: RunLedger): void {
  const known = new Map(runs.map((run) => [run.id, run]));
  expect([...ledger.accepted].filter(([id, n]) => known.get(id)?.data['n'] !== n)).toEqual([]);
  expect(runs.filter(({ status, ends }) => status !== 'completed' || ends !== 1)).toEqual([]);
  const mixed = runs.filter(({ workflowId }) => workflowId === ledger.workflowId);
  const wrong = mixed.filter((run) => JSON.stringify(sorted(statusesOf(run))) !== JSON.stringify(sorted(MIXED)));
  expect(wrong).toEqual([]);
  const numbers = mixed.map(({ data }) => Number(data['n']));
  expect(numbers.filter((n) => !ledger.sent.has(n))).toEqual([]);
  expect(new Set(numbers).size).toBe(numbers.length);
  const after = runs.filter(({ workflowId }) => workflowId === ledger.afterId).map(({ data }) => String(data['runId']));
  expect(after.toSorted()).toEqual(mixed.map(({ id }) => id).toSorted());
}

function sorted(statuses: Record<string, string>): [string, string][] {
  return Object.entries(statuses).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** One run a tick, without a gap, however often everything was away. */
function expectEveryTick(runs: readonly Row[], { cronId }: RunLedger): number {
  const ticks = runs
    .filter(({ workflowId }) => workflowId === cronId)
    .map(({ data }) => Date.parse(String(data['scheduledAt'])))
    .toSorted((a, b) => a - b);
  expect(ticks).toEqual(ticks.map((_tick, i) => (ticks[0] ?? 0) + i * 1000));
  return ticks.length;
}

/** What the world saw: of each step its effect, nothing of it after it was finished, no attempt that is not on record. */
function expectNothingAgain(runs: readonly Row[], effects: readonly Effect[], ledger: RunLedger): number {
  const byName = new Map(
    runs.map((run) => [run.workflowId === ledger.afterId ? String(run.data['runId']) : String(run.data['n']), run]),
  );
  const groups = Map.groupBy(effects, ({ step, of }) => `${step} ${of}`);
  let repeated = 0;
  const faults: string[] = [];
  for (const [name, group] of groups) {
    const [{ step, of } = { step: '', of: '' }] = group;
    const record = byName.get(of)?.steps?.[step];
    const attempts = new Set(group.map(({ attemptId }) => attemptId)).size;
    if (!record) faults.push(`${name}: no step on record`);
    else if (Math.max(...group.map(({ atMs }) => atMs)) > record.endMs + 1) faults.push(`${name}: ran again`);
    else if (attempts > record.attempts) faults.push(`${name}: more attempts than on record`);
    if (record && group.length > record.attempts) repeated++;
  }
  for (const [of, { workflowId }] of byName) {
    const steps = { [ledger.workflowId]: ['call', 'tool', 'ask', 'mail'], [ledger.afterId]: ['after'] };
    for (const step of steps[workflowId] ?? []) if (!groups.has(`${step} ${of}`)) faults.push(`${step} ${of}: none`);
  }
  expect(faults).toEqual([]);
  return repeated;
}

/** No run says that it is running while nobody has worked on it for long. */
async function expectNoneStuck(url: string): Promise<void> {
  const stuck = await queryRows(
    url,
    `select id from workflow_runs where status = 'running' and lease_until < now() - interval '10 seconds'`,
  );
  expect(stuck).toEqual([]);
}

async function expectShown(service: { url: string }, ledger: RunLedger): Promise<void> {
  const ids = [...ledger.accepted.keys()].filter((_id, i) => i % Math.ceil(ledger.accepted.size / SHOWN) === 0);
  for (const id of ids) {
    const path = `/v1/workflows/${ledger.workflowId}/runs/${id}`;
    const { body } = await callApi(service.url, { method: 'GET', path, key: ADMIN_KEY });
    expect(pick(body, 'status')).toBe('completed');
    expect(pick(body, 'stepResults')).toHaveLength(6);
  }
}

test(
  'whatever is killed under load, every accepted run completes, and no finished step runs again',
  { timeout: LATEST_END_MS + 60_000 + ROUNDS * 20_000 },
  async () => {
    const dataDir = await makeDataDir();
    const url = databaseUrlOf(dataDir);
    const targets = await startTargets();
    const env = { BOOTSTRAP_API_KEY: ADMIN_KEY, ENTERPRISE_PER_MINUTE: '10000000', ...targets.env };
    let service = await startProcess({ dataDir, env });
    const ledger = await openRunLedger(service, ADMIN_KEY, targets);
    for (let round = 0; round < ROUNDS; round++) {
      const publishing = Promise.all(Array.from({ length: PUBLISHERS }, () => ledger.publish(service.url)));
      await someMore(ledger);
      await expectNoneStuck(url);
      await troublePostgres(dataDir, round);
      await someMore(ledger);
      await service.kill();
      await publishing;
      service = await startProcess({ dataDir, env });
    }
    const stopTicks = { method: 'PUT', path: `/v1/workflows/${ledger.cronId}`, key: ADMIN_KEY };
    await callApi(service.url, { ...stopTicks, body: { enabled: false } });

    const open = `select count(*)::int as open from workflow_runs where status in ('pending', 'running')`;
    const waiting = `select (${open}) + (select count(*)::int from outbox_events where dispatched_at is null) as left`;
    await expect
      .poll(async () => (await queryRows(url, waiting))[0], { timeout: LATEST_END_MS, interval: 500 })
      .toEqual({ left: 0 });
    const runs = await readRuns(url);
    expectAllEnded(runs, ledger);
    const ticks = expectEveryTick(runs, ledger);
    const effects = ledger.effects();
    const repeated = expectNothingAgain(runs, effects, ledger);
    await expectShown(service, ledger);
    expect((await service.stop()).code).toBe(0);
    process.stdout.write(
      `${ROUNDS} kills: ${runs.length} runs, ${ticks} of them by schedule; ${effects.length} effects, ` +
        `${repeated} steps under way at a kill were repeated, no finished one\n`,
    );
    await ledger.stop();
  },
);
