-- Runs and their steps lie in slices of some days, by the time that the id of a run begins with, so that history that has
-- been kept long enough is given back by dropping tables. The service makes slices ahead; what none is for lies in `rest`.
alter table workflow_runs rename to workflow_runs_before;
alter table workflow_steps rename to workflow_steps_before;
alter index workflow_runs_of_workflow rename to workflow_runs_of_workflow_before;
alter index workflow_runs_open rename to workflow_runs_open_before;
alter table workflow_runs_before rename constraint workflow_runs_pkey to workflow_runs_before_pkey;
alter table workflow_steps_before rename constraint workflow_steps_pkey to workflow_steps_before_pkey;

create table workflow_runs (
  developer_id text not null,
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
) partition by range (id);

-- Who has runs that wait, and which of them wait longest.
create index workflow_runs_open on workflow_runs (developer_id, lease_until) where status in ('pending', 'running');
create index workflow_runs_of_workflow on workflow_runs (developer_id, workflow_id, id);
create table workflow_runs_rest partition of workflow_runs default;

-- Steps that are settled. They go with their run by what deletes runs: a foreign key would cost each step a look-up.
create table workflow_steps (
  developer_id text not null,
  run_id text collate "C" not null,
  node_id text not null,
  -- `retrying`: attempts failed so far, and another one follows.
  status text not null check (status in ('success', 'failed', 'skipped', 'retrying')),
  attempts smallint not null,
  result jsonb,
  -- Characters of the result as JSON.
  size integer not null default 0,
  error text,
  seq bigint not null generated always as identity,
  started_at timestamptz not null,
  completed_at timestamptz not null,
  primary key (developer_id, run_id, node_id)
) partition by range (run_id);

create table workflow_steps_rest partition of workflow_steps default;

insert into workflow_runs
  (developer_id, id, workflow_id, workflow_name, status, triggered_by, trigger_data, definition, depth, error,
    lease_owner, lease_until, created_at, started_at, completed_at)
select developer_id, id, workflow_id, workflow_name, status, triggered_by, trigger_data, definition, depth, error,
  lease_owner, lease_until, created_at, started_at, completed_at
from workflow_runs_before;

insert into workflow_steps
  (developer_id, run_id, node_id, status, attempts, result, size, error, started_at, completed_at)
select developer_id, run_id, node_id, status, attempts, result, coalesce(length(result::text), 0), error, started_at, completed_at
from workflow_steps_before order by seq;

drop table workflow_steps_before, workflow_runs_before;
