create table workflows (
  developer_id text not null,
  id text collate "C" not null,
  name text not null,
  description text not null,
  trigger jsonb not null,
  nodes jsonb not null,
  edges jsonb not null,
  enabled boolean not null default true,
  source text not null,
  -- The next tick of a schedule; null without one, or while it is disabled.
  next_tick timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (developer_id, id)
);

create index workflows_due on workflows (next_tick) where next_tick is not null;
create index workflows_of_event on workflows (developer_id, (trigger ->> 'event'))
  where enabled and trigger ->> 'type' = 'event';

create table workflow_runs (
  developer_id text not null,
  -- Ids grow with time.
  id text collate "C" not null,
  workflow_id text collate "C" not null,
  workflow_name text not null,
  status text not null default 'pending' check (status in ('pending', 'running', 'completed', 'failed')),
  triggered_by text not null,
  trigger_data jsonb not null,
  -- What it began with, whatever becomes of the workflow: {nodes, edges}.
  definition jsonb not null,
  -- How many runs stand behind it, each started by an event of the one before.
  depth smallint not null default 0,
  error text,
  -- The process that works on it, and until when nobody else may.
  lease_owner text,
  lease_until timestamptz not null default now(),
  created_at timestamptz not null default now(),
  started_at timestamptz,
  completed_at timestamptz,
  primary key (developer_id, id),
  foreign key (developer_id, workflow_id) references workflows on delete cascade
);

create index workflow_runs_open on workflow_runs (lease_until) where status in ('pending', 'running');
create index workflow_runs_of_workflow on workflow_runs (developer_id, workflow_id, id);

-- Steps that are settled.
create table workflow_steps (
  developer_id text not null,
  run_id text collate "C" not null,
  node_id text not null,
  -- `retrying`: attempts failed so far, and another one follows.
  status text not null check (status in ('success', 'failed', 'skipped', 'retrying')),
  attempts smallint not null,
  result jsonb,
  error text,
  seq bigint not null generated always as identity,
  started_at timestamptz not null,
  completed_at timestamptz not null,
  primary key (developer_id, run_id, node_id),
  foreign key (developer_id, run_id) references workflow_runs on delete cascade
);

-- Events that a run causes tell how deep it is, so that a workflow cannot set itself off for ever.
alter table outbox_events add column depth smallint not null default 0;
