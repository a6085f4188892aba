import type { EventListener } from '../../../platform/outbox/index.ts';
import type { Alert } from './alert.ts';
import { attemptOf, type Attempt } from './conditions.ts';
import { addOutcome, countFailures, isFailing, type Outcomes } from './outcome-history.ts';
import { addOutcomes, forgetUnused, type History } from './outcome-history.store.ts';
import { raiseAlerts } from './raise-alerts.ts';

function keyOf({ developerId, kind, source }: Omit<History, 'outcomes'>): string {
  return `${developerId} ${kind} ${source}`;
}

/** Attempts at one thing, in their order. */
interface Series {
  latest: History;
  attempts: Attempt[];
}

/** Sorts attempts by what was attempted. */
function seriesOf(attempts: readonly Attempt[]): Map<string, Series> {
  const all = new Map<string, Series>();
  for (const attempt of attempts) {
    const { developerId, source, condition, hasFailed } = attempt;
    const begun = { developerId, kind: condition.kind, source, outcomes: '' };
    const { latest, attempts: earlier } = all.get(keyOf(begun)) ?? { latest: begun, attempts: [] };
    latest.outcomes = addOutcome(latest.outcomes, hasFailed);
    earlier.push(attempt);
    all.set(keyOf(begun), { latest, attempts: earlier });
  }
  return all;
}

/** One alert for each time that something began to fail; it may have recovered in between. */
function alertsOf(attempts: readonly Attempt[], before: Outcomes): Alert[] {
  const alerts: Alert[] = [];
  let outcomes = before;
  for (const attempt of attempts) {
    const { developerId, source, condition } = attempt;
    const wasFailing = isFailing(outcomes, condition.rule);
    outcomes = addOutcome(outcomes, attempt.hasFailed);
    if (wasFailing || !isFailing(outcomes, condition.rule)) continue;
    const failures = countFailures(outcomes, condition.rule.window);
    alerts.push({ developerId, source, ...condition.alertOf(attempt, failures) });
  }
  return alerts;
}

/**
 * Follows how calls of tools and runs of workflows end, and raises an alert when one begins to fail. The history says
 * whether it was failing before, so that an incident is told of once, whichever relays its events pass through.
 */
export function createAlertListener(): EventListener {
  return async (tx, events) => {
    const series = seriesOf(events.map(attemptOf).filter((attempt) => attempt !== undefined));
    if (series.size === 0) return;
    const latest = Array.from(series.values(), (one) => one.latest);
    const before = await addOutcomes(tx, latest);
    const newcomers = before.filter(({ outcomes }) => outcomes === '');
    if (newcomers.length > 0) {
      await forgetUnused(
        tx,
        newcomers.map(({ developerId }) => developerId),
      );
    }
    await raiseAlerts(
      tx,
      before.flatMap((history) => alertsOf(series.get(keyOf(history))?.attempts ?? [], history.outcomes)),
    );
  };
}
