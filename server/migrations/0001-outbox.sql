-- Events, written in the transaction of the change that caused them and handed over exactly once afterwards.
create table outbox_events (
  developer_id text not null,
  id text collate "C" not null,
  type text not null,
  data jsonb not null,
  -- The order in which events are handed over.
  seq bigint not null generated always as identity,
  created_at timestamptz not null default now(),
  -- When every listener had taken the event; null until then.
  dispatched_at timestamptz,
  -- How often a listener failed on this event, and when it is offered again.
  failures integer not null default 0,
  retry_at timestamptz,
  primary key (developer_id, id)
);

create index outbox_events_waiting on outbox_events (seq) where dispatched_at is null;

create function notify_outbox() returns trigger language plpgsql as $$
begin
  perform pg_notify('outbox', '');
  return null;
end
$$;

create trigger outbox_events_notify after insert on outbox_events
  for each statement execute function notify_outbox();
