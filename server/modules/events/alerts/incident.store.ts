import { prepared, storableJson, type Transaction } from '../../../platform/db/index.ts';
import type { AlertType } from '../../../../contract/events/index.ts';

export interface Incident {
  developerId: string;
  alertType: AlertType;
  source: string;
  /** Tells the incidents of one source apart. */
  incident: string;
}

// In one order everywhere, so that two transactions noting the same incidents cannot deadlock.
const insertIncidents = prepared(`insert into alert_incidents (developer_id, alert_type, source, incident)
  select distinct "developerId", "alertType", source, incident
  from json_to_recordset($1) as i ("developerId" text, "alertType" text, source text, incident text)
  order by 1, 2, 3, 4
  on conflict do nothing
  returning developer_id as "developerId", alert_type as "alertType", source, incident`);

/** Notes incidents; gives those that nobody had noted before. */
export async function addIncidents(tx: Transaction, incidents: readonly Incident[]): Promise<Incident[]> {
  return (await tx.query<Incident>(insertIncidents([storableJson(incidents)]))).rows;
}

const deleteIncidents = prepared(`delete from alert_incidents i
  using (
    select developer_id, alert_type, source, incident from alert_incidents
    where developer_id = any($1) and alert_type = $2 and raised_at < now() - make_interval(days => $3)
    for update skip locked
  ) old
  where i.developer_id = old.developer_id and i.alert_type = old.alert_type
    and i.source = old.source and i.incident = old.incident`);

/** Forgets the incidents of a type that these developers were told of so many days ago. */
export async function forgetIncidents(
  tx: Transaction,
  developerIds: readonly string[],
  { alertType, olderThanDays }: { alertType: AlertType; olderThanDays: number },
): Promise<void> {
  await tx.query(deleteIncidents([developerIds, alertType, olderThanDays]));
}
