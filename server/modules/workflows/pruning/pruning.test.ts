import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createId } from '../../../platform/ids/index.ts';
import { DEVELOPER, node, WorkflowBench } from '../../../testing/workflow-bench.ts';
import type { WorkflowRow } from '../workflow.store.ts';
import { pruneRuns } from './prune-runs.ts';
import { missingSlices, sliceOf, sliceSuffix } from './slice.ts';
import { ensureSlices, readHistoryBytes, readSlices } from './slice.store.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.parse('2026-06-30T12:00:00Z');
const MB = 1024 * 1024;

let bench: WorkflowBench;
let workflow: WorkflowRow;

beforeEach(async () => {
  bench = await WorkflowBench.open();
  workflow = await bench.create([node('a')]);
});
afterEach(() => bench.close());

function prune({ days = 10, megabytes = 1000, nowMs = NOW_MS, signal = new AbortController().signal } = {}) {
  const log = pino({ level: 'silent' });
  return pruneRuns({ database: bench.db, historyDays: days, historyBytes: megabytes * MB, nowMs, signal, log });
}

/** Runs that began so many days ago, with a step each whose result holds so much. */
async function addRuns(daysAgo: number, { count = 1, status = 'completed', bytes = 10 } = {}): Promise<string[]> {
  const ids = Array.from({ length: count }, () => createId('run', NOW_MS - daysAgo * DAY_MS));
  await bench.db.query({
    text: `insert into workflow_runs (developer_id, id, workflow_id, workflow_name, status, triggered_by, trigger_data,
        definition)
      select $1, id, $2, 'x', $3, 'api', '{}', '{}' from unnest($4::text[]) as r (id)`,
    values: [DEVELOPER, workflow.id, status, ids],
  });
  // Text that does not compress.
  await bench.db.query({
    text: `insert into workflow_steps (developer_id, run_id, node_id, status, attempts, result, started_at, completed_at)
      select $1, id, 'a', 'success', 1,
        to_jsonb((select string_agg(md5(id || n), '') from generate_series(0, $3::int / 32) n)), now(), now()
      from unnest($2::text[]) as r (id)`,
    values: [DEVELOPER, ids, bytes],
  });
  return ids;
}

async function kept(): Promise<unknown[]> {
  return (await bench.rows('select id from workflow_runs order by id')).map(({ id }) => id);
}

async function orphans(): Promise<number> {
  const rows = await bench.rows('select from workflow_steps where run_id not in (select id from workflow_runs)');
  return rows.length;
}

/** Makes slices as they would have been made while the days went by. */
async function makeHistory(days: number): Promise<void> {
  for (let ago = days; ago >= 0; ago--) {
    await ensureSlices(bench.db, { nowMs: NOW_MS - ago * DAY_MS, historyDays: 10 });
  }
}

describe('by age', () => {
  test('days that are over are given back to the last byte, runs that are young enough stay', async () => {
    await makeHistory(30);
    await addRuns(25, { count: 300, bytes: 4000 });
    await addRuns(12, { count: 300, bytes: 4000 });
    const young = [...(await addRuns(9)), ...(await addRuns(1)), ...(await addRuns(0))];
    const before = await readHistoryBytes(bench.db);
    await prune();
    expect(await kept()).toEqual(young.toSorted());
    expect(await orphans()).toBe(0);
    expect(await readHistoryBytes(bench.db)).toBeLessThan(before - 2 * MB);
    const oldest = (await readSlices(bench.db)).map(({ fromMs }) => fromMs)[0];
    expect(oldest).toBe(Math.floor(NOW_MS / DAY_MS) * DAY_MS - 10 * DAY_MS);
  });

  test('a run that is open stays, however old, and its day goes when it has ended', async () => {
    await makeHistory(20);
    const [open = ''] = await addRuns(15, { status: 'running' });
    await addRuns(15, { count: 5 });
    await prune();
    expect(await kept()).toEqual([open]);
    await bench.db.query({ text: `update workflow_runs set status = 'failed'` });
    await prune();
    expect(await kept()).toEqual([]);
    expect((await readSlices(bench.db)).every(({ fromMs }) => fromMs > NOW_MS - 12 * DAY_MS)).toBe(true);
  });

  test('runs that lie in no slice go as well', async () => {
    await addRuns(15, { count: 5 });
    const [young] = await addRuns(2);
    await prune();
    expect(await kept()).toEqual([young]);
    expect(await orphans()).toBe(0);
  });

  test('a day that somebody reads is left for another time, and runs are written meanwhile', async () => {
    await makeHistory(20);
    const [old] = await addRuns(15);
    const reader = await bench.db.connect();
    await reader.query('begin');
    await reader.query('select from workflow_steps');
    const pruned = prune();
    const [young] = await addRuns(0);
    await pruned;
    await reader.query('commit');
    await reader.end();
    expect(await kept()).toContain(young);
    await prune();
    expect(await kept()).toEqual([young]);
    expect(await kept()).not.toContain(old);
  });
});

describe('by size', () => {
  test('the oldest days go until the rest is small enough', async () => {
    await makeHistory(9);
    await addRuns(8, { count: 400, bytes: 16_000 });
    await addRuns(5, { count: 400, bytes: 16_000 });
    const young = await addRuns(2, { count: 10 });
    await prune({ megabytes: 10 });
    expect(await readHistoryBytes(bench.db)).toBeLessThan(10 * MB);
    const rows = await kept();
    expect(rows).toHaveLength(410);
    expect(rows).toEqual(expect.arrayContaining(young));
  });

  test('of the day that is filled now the oldest runs go, and what they leave is filled again', async () => {
    await makeHistory(0);
    await addRuns(0.2, { count: 800, bytes: 16_000 });
    const [open = ''] = await addRuns(0.3, { status: 'running', bytes: 16_000 });
    const young = await addRuns(0.1, { count: 100, bytes: 16_000 });
    await prune({ megabytes: 10 });
    const rows = await kept();
    expect(rows).toEqual(expect.arrayContaining([open, ...young]));
    expect(rows.length).toBeLessThan(750);
    expect(await orphans()).toBe(0);
    // Once more changes nothing: it is the rows that count here, not the file that they left.
    await prune({ megabytes: 10 });
    expect(await kept()).toEqual(rows);
  });
});

test('a stop ends it', async () => {
  await makeHistory(20);
  await addRuns(15);
  await expect(prune({ signal: AbortSignal.abort() })).rejects.toThrow('abort');
});

test('slices follow each other without a gap or an overlap, whatever their lengths', () => {
  const existing = missingSlices([], { nowMs: NOW_MS, freeFromMs: 0, historyDays: 30 });
  for (const [day, historyDays] of [
    [1, 30],
    [4, 1],
    [5, 365],
    [40, 10],
  ] as const) {
    const nowMs = NOW_MS + day * DAY_MS;
    existing.push(...missingSlices(existing, { nowMs, freeFromMs: 0, historyDays }));
    for (const ms of [nowMs, nowMs + 3 * DAY_MS]) {
      expect(existing.filter(({ fromMs, toMs }) => fromMs <= ms && ms < toMs)).toHaveLength(1);
    }
  }
  const overlaps = existing.filter(({ fromMs }, index) => fromMs < (existing[index - 1]?.toMs ?? 0));
  expect(overlaps).toEqual([]);
  expect(existing.map((slice) => sliceOf(sliceSuffix(slice)))).toEqual(existing);
});

test('no slice is made over what lies outside of slices', async () => {
  const [id] = await addRuns(0);
  await makeHistory(0);
  const [first] = await readSlices(bench.db);
  expect(first?.fromMs).toBe(Math.ceil(NOW_MS / DAY_MS) * DAY_MS);
  expect(await kept()).toEqual([id]);
});
