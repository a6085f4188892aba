import type { Transaction } from '../../platform/db/index.ts';
import {
  matchesFilter,
  publishEvents,
  type EventListener,
  type NewEvent,
  type OutboxEvent,
} from '../../platform/outbox/index.ts';
import type { Runner } from './engine/runner.ts';
import { newRun } from './new-run.ts';
import { notifyRuns } from './notify-runs.ts';
import { insertRuns, type NewRun } from './run.store.ts';
import { assignRuns } from './run-starter.ts';
import { findTriggered, type WorkflowRow } from './workflow.store.ts';

/** Runs in a row, each started by an event of the one before; what lies beyond is taken for a loop. */
const MAX_DEPTH = 8;

interface Match {
  workflow: WorkflowRow;
  event: OutboxEvent;
}

function matchesOf(events: readonly OutboxEvent[], workflows: readonly WorkflowRow[]): Match[] {
  const byTopic = Map.groupBy(workflows, ({ developerId, trigger }) => `${developerId} ${trigger.event}`);
  return events.flatMap((event) =>
    (byTopic.get(`${event.developerId} ${event.type}`) ?? [])
      .filter(({ trigger }) => matchesFilter(trigger.filter ?? null, event.data))
      .map((workflow) => ({ workflow, event })),
  );
}

function loopAlert({ workflow, event }: Match): NewEvent {
  const { developerId, id: source, name } = workflow;
  const message = `The workflow "${name}" was not started by ${event.type}: ${MAX_DEPTH} runs in a row have set each other off.`;
  const data = { alertType: 'workflow_loop', source, message, severity: 'error' };
  return { developerId, type: 'alert.triggered', data, depth: event.depth };
}

async function startRuns(tx: Transaction, matches: readonly Match[], runner: Runner | undefined): Promise<NewRun[]> {
  const runs = matches.map(({ workflow, event }) =>
    newRun(workflow, { triggeredBy: 'event', triggerData: event.data, depth: event.depth }),
  );
  const assigned = assignRuns(runs, runner);
  const written = assigned.length > 0 ? await insertRuns(tx, assigned) : new Set<string>();
  if (assigned.some(({ leaseOwner }) => leaseOwner === null)) await notifyRuns(tx);
  return assigned.filter(({ id, leaseOwner }) => leaseOwner !== null && written.has(id));
}

/** Starts the workflows that wait for an event, in the transaction that notes the event as handed over: once each. */
export function createEventTrigger(runner: Runner | undefined): EventListener {
  return async (tx, events) => {
    const matches = matchesOf(events, await findTriggered(tx, events));
    if (matches.length === 0) return undefined;
    // An alert about a loop is not told to the loop.
    const [deep, fine] = [
      matches.filter(({ event }) => event.depth > MAX_DEPTH && event.type !== 'alert.triggered'),
      matches.filter(({ event }) => event.depth <= MAX_DEPTH),
    ];
    await publishEvents(tx, deep.map(loopAlert));
    const mine = await startRuns(tx, fine, runner);
    return () => runner?.take(mine);
  };
}
