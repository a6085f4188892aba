import type { Database, Transaction } from '../../../platform/db/index.ts';
import { publishEvents, type NewEvent } from '../../../platform/outbox/index.ts';
import type { LaneKey } from './claim.store.ts';
import type { Attempt, Consignment } from './delivery.ts';
import {
  giveUpPending,
  lockSubscriptions,
  saveOutcomes,
  saveStandings,
  type Outcome,
  type Standing,
} from './outcome.store.ts';
import { retryDelayMs } from './retry-schedule.ts';

/** Failed attempts in a row after which a subscription is disabled. */
const MAX_FAILURES = 20;
/** The receiver says that it is gone for good. */
const HTTP_GONE = 410;

/** What comes of an attempt: delivered, again later, or given up. */
export function outcomeOf(consignment: Consignment, attempt: Attempt, random: number): Outcome {
  const { id: deliveryId, destination } = consignment;
  const { developerId, subscriptionId } = destination;
  const attemptCount = consignment.attemptCount + 1;
  const facts = { developerId, subscriptionId, deliveryId, attemptCount, attempt };
  if (attempt.error === null) return { ...facts, status: 'delivered', delayMs: 0, reason: null };
  if (attempt.status === HTTP_GONE) {
    return { ...facts, status: 'failed', delayMs: 0, reason: 'The receiver answered that it is gone for good.' };
  }
  const delayMs = retryDelayMs(attemptCount, random);
  return delayMs === undefined
    ? { ...facts, status: 'failed', delayMs: 0, reason: 'Every attempt failed.' }
    : { ...facts, status: 'pending', delayMs, reason: null };
}

/** How a subscription stands after its outcomes, in their order. */
function standingAfter(before: Standing, outcomes: readonly Outcome[]): Standing {
  let { failCount } = before;
  let isGone = false;
  let hasFailedTooOften = false;
  for (const { attempt } of outcomes) {
    failCount = attempt.error === null ? 0 : failCount + 1;
    isGone ||= attempt.status === HTTP_GONE;
    hasFailedTooOften ||= failCount >= MAX_FAILURES;
  }
  return { ...before, failCount, enabled: before.enabled && !isGone && !hasFailedTooOften };
}

/** A subscription is disabled once, so this needs no record of what was raised before. */
function alertOf(standing: Standing, outcomes: readonly Outcome[]): NewEvent {
  const { developerId, subscriptionId, event, url, failCount } = standing;
  const isGone = outcomes.some(({ attempt }) => attempt.status === HTTP_GONE);
  const why = isGone ? 'its receiver answered 410 Gone' : `${failCount} attempts in a row failed`;
  const message = `The subscription of ${event} at ${url} was disabled: ${why}.`;
  const data = { alertType: 'subscription_disabled', source: subscriptionId, message, severity: 'error' };
  return { developerId, type: 'alert.triggered', data };
}

function lanesOf(outcomes: readonly Outcome[]): LaneKey[] {
  return [...new Map(outcomes.map((outcome) => [outcome.subscriptionId, outcome])).values()];
}

async function settle(tx: Transaction, outcomes: readonly Outcome[]): Promise<Standing[]> {
  // Subscriptions first, then deliveries: the order of everyone who locks both.
  const before = await lockSubscriptions(tx, lanesOf(outcomes));
  const news = await saveOutcomes(tx, outcomes);
  const byLane = Map.groupBy(
    outcomes.filter(({ deliveryId }) => news.has(deliveryId)),
    ({ subscriptionId }) => subscriptionId,
  );
  const after = before.map((standing) => standingAfter(standing, byLane.get(standing.subscriptionId) ?? []));
  await saveStandings(tx, after);
  const disabled = after.filter(({ enabled }, index) => before[index]?.enabled && !enabled);
  if (disabled.length === 0) return [];
  await giveUpPending(tx, disabled);
  await publishEvents(
    tx,
    disabled.map((standing) => alertOf(standing, byLane.get(standing.subscriptionId) ?? [])),
  );
  return disabled;
}

/** Writes outcomes in one transaction, with all that follows from them; gives the subscriptions it disabled. */
export function settleOutcomes(database: Database, outcomes: readonly Outcome[]): Promise<LaneKey[]> {
  return database.transaction((tx) => settle(tx, outcomes));
}
