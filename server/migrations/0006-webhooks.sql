-- Who wants to be told of what.
create table webhook_subscriptions (
  developer_id text not null,
  id text collate "C" not null,
  event text not null,
  url text not null,
  -- Values that data must have, by dotted path; null takes every event of the type.
  filter jsonb,
  enabled boolean not null default true,
  -- Sealed; null without one.
  secret text,
  -- The secret before, which signs too until its time is over.
  previous_secret text,
  previous_secret_until timestamptz,
  -- Failed attempts since the last success.
  fail_count integer not null default 0,
  last_triggered timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (developer_id, id)
);

create index webhook_subscriptions_of_event on webhook_subscriptions (developer_id, event) where enabled;

-- An event that somebody subscribed to, with the exact text that is sent and signed.
create table webhook_messages (
  developer_id text not null,
  -- The id of the event; `webhook-id` of every attempt.
  id text collate "C" not null,
  event text not null,
  body text not null,
  created_at timestamptz not null,
  primary key (developer_id, id)
);

-- One message on its way to one subscription.
create table webhook_deliveries (
  developer_id text not null,
  -- Ids grow with time.
  id text collate "C" not null,
  subscription_id text collate "C" not null,
  message_id text collate "C" not null,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  -- When the next attempt is due. Whoever takes it on moves it ahead, so that it falls due again should they vanish.
  due_at timestamptz not null,
  -- Attempts of the present schedule; a redelivery begins a new one.
  attempt_count integer not null default 0,
  -- The latest attempts, oldest first: {at, status, durationMs, answer, error}.
  attempts jsonb not null default '[]',
  -- Why it was given up before its schedule ended.
  reason text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (developer_id, id),
  foreign key (developer_id, subscription_id) references webhook_subscriptions on delete cascade
);

create index webhook_deliveries_due on webhook_deliveries (developer_id, subscription_id, due_at)
  where status = 'pending';
create index webhook_deliveries_of_subscription on webhook_deliveries (developer_id, subscription_id, id);
