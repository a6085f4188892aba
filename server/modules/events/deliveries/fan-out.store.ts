import { prepared, textColumn, valueColumn, type Transaction } from '../../../platform/db/index.ts';
import type { OutboxEvent } from '../../../platform/outbox/index.ts';
import { LEASE_SECONDS, type Destination, type Message } from './delivery.ts';

/** A subscription as fan-out needs it. */
export interface Subscriber extends Destination {
  event: string;
  filter: Record<string, unknown> | null;
}

const selectSubscribers =
  prepared(`select s.developer_id as "developerId", id as "subscriptionId", s.event, url, filter,
    secret, previous_secret as "previousSecret", previous_secret_until as "previousSecretUntil"
  from (select distinct developer_id, event from unnest($1::text[], $2::text[]) as e (developer_id, event)) e
  join webhook_subscriptions s on s.developer_id = e.developer_id and s.event = e.event and enabled
  order by s.developer_id, id
  for key share of s`);

/** The subscriptions that may want one of the events. They cannot be deleted until the transaction ends. */
export async function findSubscribers(tx: Transaction, events: readonly OutboxEvent[]): Promise<Subscriber[]> {
  const values = [events.map(({ developerId }) => developerId), events.map(({ type }) => type)];
  return (await tx.query<Subscriber>(selectSubscribers(values))).rows;
}

/** A delivery to begin. */
export interface NewDelivery {
  id: string;
  developerId: string;
  subscriptionId: string;
  messageId: string;
  /** This process sends it at once; otherwise whoever finds it does. */
  isTaken: boolean;
}

const insertBoth = prepared(`with messages as (
    insert into webhook_messages (developer_id, id, event, body, created_at)
    select developer_id, id, event, body, to_timestamp(created_ms / 1000)
    from unnest(string_to_array($1, E'\\n'), string_to_array($2, E'\\n'), string_to_array($3, E'\\n'),
      string_to_array($4, E'\\n'), $5::float8[]) as m (developer_id, id, event, body, created_ms)
  )
  insert into webhook_deliveries (developer_id, id, subscription_id, message_id, due_at)
  select developer_id, id, subscription_id, message_id,
    case when is_taken then now() + interval '${LEASE_SECONDS} seconds' else now() end
  from unnest(string_to_array($6, E'\\n'), string_to_array($7, E'\\n'), string_to_array($8, E'\\n'),
    string_to_array($9, E'\\n'), $10::boolean[]) as d (developer_id, id, subscription_id, message_id, is_taken)`);

/** Writes messages and the deliveries that begin with them, in one round trip. */
export async function addDeliveries(
  tx: Transaction,
  messages: readonly (Message & { developerId: string })[],
  deliveries: readonly NewDelivery[],
): Promise<void> {
  // Bodies are JSON, which spells a line break.
  const values = [
    textColumn(messages, ({ developerId }) => developerId),
    textColumn(messages, ({ id }) => id),
    textColumn(messages, ({ event }) => event),
    textColumn(messages, ({ body }) => body),
    valueColumn(messages, ({ createdAt }) => createdAt.getTime()),
    textColumn(deliveries, ({ developerId }) => developerId),
    textColumn(deliveries, ({ id }) => id),
    textColumn(deliveries, ({ subscriptionId }) => subscriptionId),
    textColumn(deliveries, ({ messageId }) => messageId),
    valueColumn(deliveries, ({ isTaken }) => isTaken),
  ];
  await tx.query(insertBoth(values));
}
