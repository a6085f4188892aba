import { prepared, storableJson, type Transaction } from '../../../platform/db/index.ts';
import { KEPT_OUTCOMES, type Outcomes } from './outcome-history.ts';

/** How attempts of one tool or workflow ended. */
export interface History {
  developerId: string;
  kind: 'tool' | 'workflow';
  /** The name of the tool, the id of the workflow. */
  source: string;
  outcomes: Outcomes;
}

// In one order everywhere, so that two relays adding to the same histories cannot deadlock.
const upsertOutcomes = prepared(`insert into outcome_history as h (developer_id, kind, source, outcomes)
  select "developerId", kind, source, right(outcomes, ${KEPT_OUTCOMES})
  from json_to_recordset($1) as o ("developerId" text, kind text, source text, outcomes text)
  order by 1, 2, 3
  on conflict (developer_id, kind, source) do update
    set outcomes_before = h.outcomes, outcomes = right(h.outcomes || excluded.outcomes, ${KEPT_OUTCOMES}),
      updated_at = now()
  returning developer_id as "developerId", kind, source, outcomes_before as outcomes`);

/**
 * Adds the latest outcomes, of each source once, and gives those that were kept before; empty for a source that is new.
 * Others who add to the same histories wait until the transaction ends.
 */
export async function addOutcomes(tx: Transaction, latest: readonly History[]): Promise<History[]> {
  return (await tx.query<History>(upsertOutcomes([storableJson(latest)]))).rows;
}

const deleteUnused = prepared(`delete from outcome_history h
  using (
    select developer_id, kind, source from outcome_history
    where developer_id = any($1) and updated_at < now() - interval '30 days'
    for update skip locked
  ) old
  where h.developer_id = old.developer_id and h.kind = old.kind and h.source = old.source`);

/** Forgets what these developers did not use for a month. */
export async function forgetUnused(tx: Transaction, developerIds: readonly string[]): Promise<void> {
  await tx.query(deleteUnused([developerIds]));
}
