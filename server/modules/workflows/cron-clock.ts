import { systemClock, type Clock } from '../../platform/clock/index.ts';
import type { Database, Transaction } from '../../platform/db/index.ts';
import { nextTick, type Schedule } from './engine/next-ticks.ts';
import { newRun } from './new-run.ts';
import { notifyRuns } from './notify-runs.ts';
import { insertRuns } from './run.store.ts';
import { lockDueWorkflows, saveNextTick, type WorkflowRow } from './workflow.store.ts';
import type { Trigger } from '../../../contract/routes/workflows.ts';

const BATCH = 50;
/** A tick that is found later than this was missed. */
const ON_TIME_MS = 60_000;
/** Missed ticks that are made up for, at most, the latest of them. */
const MAX_MISSED = 100;
/** Ticks that are counted through, at most, when a service comes back after long. */
const MAX_COUNTED = 10_000;

/** The schedule of a trigger; undefined when it has none. */
function scheduleOf({ type, schedule, timezone = 'UTC' }: Trigger): Schedule | undefined {
  return type === 'cron' && schedule !== undefined ? { expression: schedule, timezone } : undefined;
}

/** When a workflow is first due from now on; null when its trigger is no schedule or it is disabled. */
export function firstTick(trigger: Trigger, enabled: boolean, nowMs: number): Date | null {
  const schedule = enabled ? scheduleOf(trigger) : undefined;
  return schedule ? nextTick(schedule, new Date(nowMs)) : null;
}

/** The ticks from the first one up to now, oldest first, and the one after them. */
function ticksUntil(schedule: Schedule, first: Date, nowMs: number): { ticks: Date[]; next: Date | null } {
  const ticks: Date[] = [];
  let next: Date | null = first;
  for (let counted = 0; next && next.getTime() <= nowMs; counted++) {
    if (counted === MAX_COUNTED) return { ticks, next: nextTick(schedule, new Date(nowMs)) };
    ticks.push(next);
    if (ticks.length > MAX_MISSED) ticks.shift();
    next = nextTick(schedule, next);
  }
  return { ticks, next };
}

/** Of the ticks that have come, those that start a run. */
function chosenTicks(ticks: readonly Date[], catchUp: Trigger['catchUp'], nowMs: number): Date[] {
  const latest = ticks.slice(-1);
  if (catchUp === 'all') return [...ticks];
  if (catchUp === 'skip') return latest.filter((last) => nowMs - last.getTime() <= ON_TIME_MS);
  return latest;
}

async function tickOne(tx: Transaction, workflow: WorkflowRow, nowMs: number): Promise<number> {
  const schedule = scheduleOf(workflow.trigger);
  if (!schedule || !workflow.nextTick) {
    await saveNextTick(tx, workflow, null);
    return 0;
  }
  const { ticks, next } = ticksUntil(schedule, workflow.nextTick, nowMs);
  const runs = chosenTicks(ticks, workflow.trigger.catchUp, nowMs).map((due) =>
    newRun(workflow, { triggeredBy: 'cron', triggerData: { scheduledAt: due.toISOString() }, depth: 0 }),
  );
  await insertRuns(tx, runs);
  await saveNextTick(tx, workflow, next);
  return runs.length;
}

/**
 * Starts the runs whose tick has come. A workflow is locked while its runs are written and its next tick is set, in one
 * transaction: one run a tick, whatever the number of processes and whenever they end. Gives how many workflows were due.
 */
export function tick(database: Database, clock: Clock = systemClock): Promise<number> {
  return database.transaction(async (tx) => {
    const nowMs = clock.nowMs();
    const due = await lockDueWorkflows(tx, new Date(nowMs), BATCH);
    let started = 0;
    for (const workflow of due) started += await tickOne(tx, workflow, nowMs);
    if (started > 0) await notifyRuns(tx);
    return due.length;
  });
}
