import type { Transaction } from '../../../platform/db/index.ts';
import { forgetIncidents } from './incident.store.ts';
import { raiseAlerts, type RaisedAlert } from './raise-alerts.ts';

/** Told of a day that is over nobody asks again; one more for counts that arrive late. */
const KEPT_DAYS = 2;

/** A key has used a share of what it may use on a UTC day. */
export interface DailyUse {
  developerId: string;
  keyId: string;
  /** YYYY-MM-DD. */
  day: string;
  /** Requests. */
  used: number;
  cap: number;
  /** The share that was reached; 100 when nothing is left. */
  percent: number;
}

function alertOf({ developerId, keyId, day, used, cap, percent }: DailyUse): RaisedAlert {
  const isUsedUp = percent >= 100;
  const counts = `${used.toLocaleString('en-US')} of ${cap.toLocaleString('en-US')}`;
  const consequence = isUsedUp ? ' Further ones are refused until the day ends.' : '';
  return {
    developerId,
    alertType: 'daily_limit',
    source: keyId,
    incident: `${day} ${percent}%`,
    message: `${percent}% of the daily requests are used: the key ${keyId} has made ${counts} on ${day} (UTC).${consequence}`,
    severity: isUsedUp ? 'error' : 'warning',
  };
}

/** Raises daily_limit, once for each key, day and share, however often it is told. */
export async function raiseDailyLimits(tx: Transaction, uses: readonly DailyUse[]): Promise<void> {
  const developerIds = uses.map(({ developerId }) => developerId);
  await forgetIncidents(tx, developerIds, { alertType: 'daily_limit', olderThanDays: KEPT_DAYS });
  await raiseAlerts(tx, uses.map(alertOf));
}
