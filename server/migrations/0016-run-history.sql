-- Who has runs that wait, and which of them wait longest.
drop index workflow_runs_open;
create index workflow_runs_open on workflow_runs (developer_id, lease_until) where status in ('pending', 'running');
-- By age: ids begin with the time at which they were made.
create index workflow_runs_by_id on workflow_runs (id);

-- Steps, which hold the results, lie in slices of some days by the time that the id of their run begins with, so that
-- history that has been kept long enough is given back by dropping tables. The service makes slices ahead; what none is
-- for lies in `rest`. Runs are small, and rows that are locked and joined all the time: they stay in one table.
alter table workflow_steps rename to workflow_steps_before;
alter table workflow_steps_before rename constraint workflow_steps_pkey to workflow_steps_before_pkey;

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

insert into workflow_steps
  (developer_id, run_id, node_id, status, attempts, result, size, error, started_at, completed_at)
select developer_id, run_id, node_id, status, attempts, result, coalesce(length(result::text), 0), error, started_at,
  completed_at
from workflow_steps_before order by seq;

drop table workflow_steps_before;
