import type { Transaction } from '../../../platform/db/index.ts';
import { publishEvents } from '../../../platform/outbox/index.ts';
import type { Alert } from './alert.ts';
import { addIncidents, type Incident } from './incident.store.ts';

/** An alert, and where given the incident of its source that it tells of. */
export type RaisedAlert = Alert & Partial<Pick<Incident, 'incident'>>;

function keyOf({ developerId, alertType, source, incident }: Partial<Incident>): string {
  return JSON.stringify([developerId, alertType, source, incident]);
}

/** Leaves out the alerts of incidents that were told of before. */
async function withoutKnown(tx: Transaction, alerts: readonly RaisedAlert[]): Promise<RaisedAlert[]> {
  const incidents = alerts.flatMap(({ developerId, alertType, source, incident }) =>
    incident === undefined ? [] : [{ developerId, alertType, source, incident }],
  );
  if (incidents.length === 0) return [...alerts];
  const fresh = new Set((await addIncidents(tx, incidents)).map(keyOf));
  return alerts.filter((alert) => alert.incident === undefined || fresh.delete(keyOf(alert)));
}

/**
 * Publishes alert.triggered, in the transaction of what it tells of. With an `incident` only once for that incident of
 * the source, whoever else raises it at the same time; without one each time, for conditions that are entered once.
 */
export async function raiseAlerts(tx: Transaction, alerts: readonly RaisedAlert[]): Promise<void> {
  const raised = await withoutKnown(tx, alerts);
  const events = raised.map(({ developerId, alertType, source, message, severity }) => {
    return { developerId, type: 'alert.triggered' as const, data: { alertType, source, message, severity } };
  });
  await publishEvents(tx, events);
}
