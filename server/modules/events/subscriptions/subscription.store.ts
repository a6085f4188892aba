import type { EventType } from '../../../../contract/events/index.ts';
import { prepared, type Queryable, type Transaction } from '../../../platform/db/index.ts';

export interface SubscriptionRow {
  developerId: string;
  id: string;
  event: EventType;
  url: string;
  filter: Record<string, unknown> | null;
  enabled: boolean;
  /** Sealed. */
  secret: string | null;
  previousSecret: string | null;
  previousSecretUntil: Date | null;
  failCount: number;
  lastTriggered: Date | null;
  createdAt: Date;
}

const COLUMNS = `developer_id as "developerId", id, event, url, filter, enabled, secret,
  previous_secret as "previousSecret", previous_secret_until as "previousSecretUntil", fail_count as "failCount",
  last_triggered as "lastTriggered", created_at as "createdAt"`;

export type NewSubscription = Pick<SubscriptionRow, 'developerId' | 'id' | 'event' | 'url' | 'filter' | 'secret'>;

/** How many subscriptions a developer has. Nobody else adds one until the transaction ends. */
export async function countAndHold(tx: Transaction, developerId: string): Promise<number> {
  await tx.query({
    text: `select pg_advisory_xact_lock(hashtextextended('webhook_subscriptions ' || $1, 0))`,
    values: [developerId],
  });
  const { rows } = await tx.query<{ count: number }>({
    text: 'select count(*)::int as count from webhook_subscriptions where developer_id = $1',
    values: [developerId],
  });
  return rows[0]?.count ?? 0;
}

export async function insertSubscription(tx: Transaction, subscription: NewSubscription): Promise<SubscriptionRow> {
  const { developerId, id, event, url, filter, secret } = subscription;
  const { rows } = await tx.query<SubscriptionRow>({
    text: `insert into webhook_subscriptions (developer_id, id, event, url, filter, secret)
      values ($1, $2, $3, $4, $5, $6) returning ${COLUMNS}`,
    values: [developerId, id, event, url, filter === null ? null : JSON.stringify(filter), secret],
  });
  const [stored] = rows;
  if (!stored) throw new Error('an insert gave no row');
  return stored;
}

const selectPage = prepared(`select ${COLUMNS} from webhook_subscriptions
  where developer_id = $1 and ($2::text is null or id < $2) order by id desc limit $3`);

/** Subscriptions older than the one with the id `before`, newest first; null for `limit` gives all. */
export async function subscriptionsBefore(
  db: Queryable,
  developerId: string,
  page: { before: string | undefined; limit: number | undefined },
): Promise<SubscriptionRow[]> {
  const values = [developerId, page.before ?? null, page.limit ?? null];
  return (await db.query<SubscriptionRow>(selectPage(values))).rows;
}

export async function findSubscription(
  db: Queryable,
  developerId: string,
  id: string,
): Promise<SubscriptionRow | undefined> {
  const { rows } = await db.query<SubscriptionRow>({
    text: `select ${COLUMNS} from webhook_subscriptions where developer_id = $1 and id = $2`,
    values: [developerId, id],
  });
  return rows[0];
}

/** A subscription, locked until the transaction ends. Whoever also locks deliveries of it does so afterwards. */
export async function lockSubscription(
  tx: Transaction,
  developerId: string,
  id: string,
): Promise<SubscriptionRow | undefined> {
  const { rows } = await tx.query<SubscriptionRow>({
    text: `select ${COLUMNS} from webhook_subscriptions where developer_id = $1 and id = $2 for no key update`,
    values: [developerId, id],
  });
  return rows[0];
}

/** Stores what a caller may change. */
export async function saveSubscription(tx: Transaction, row: SubscriptionRow): Promise<void> {
  await tx.query({
    text: `update webhook_subscriptions set url = $3, filter = $4, enabled = $5, secret = $6, previous_secret = $7,
        previous_secret_until = $8, fail_count = $9, updated_at = now()
      where developer_id = $1 and id = $2`,
    values: [
      row.developerId,
      row.id,
      row.url,
      row.filter === null ? null : JSON.stringify(row.filter),
      row.enabled,
      row.secret,
      row.previousSecret,
      row.previousSecretUntil,
      row.failCount,
    ],
  });
}

/** Whether there was such a subscription. Its deliveries go with it. */
export async function removeSubscription(tx: Transaction, developerId: string, id: string): Promise<boolean> {
  const values = [developerId, id];
  const { rowCount } = await tx.query({
    text: 'delete from webhook_subscriptions where developer_id = $1 and id = $2',
    values,
  });
  // A statement of its own, after the wait for whoever was adding deliveries: it sees them.
  await tx.query({ text: 'delete from webhook_deliveries where developer_id = $1 and subscription_id = $2', values });
  return rowCount > 0;
}
