-- Desktop agents, and calls on their way between processes. None of it outlives the processes that wrote it, so it is
-- not worth a log: after a crash of the database the tables are empty, and the processes write themselves down again.

-- Processes that hold agents. One whose lease is over is gone, and its agents with it.
create unlogged table relay_processes (
  id text collate "C" primary key,
  lease_until timestamptz not null
);

create unlogged table agents (
  developer_id text not null,
  id text collate "C" not null,
  process_id text collate "C" not null references relay_processes on delete cascade,
  name text not null,
  -- Names, as a list.
  handlers jsonb not null,
  connected_at timestamptz not null,
  last_seen_at timestamptz not null,
  primary key (developer_id, id)
);

create index agents_of_process on agents (process_id);

-- A call that one process asks another for, whose agent runs it. Input and outcome are JSON text.
create unlogged table relay_calls (
  developer_id text not null,
  id text collate "C" not null,
  agent_id text not null,
  caller_id text not null,
  holder_id text not null,
  handler text not null,
  input text not null,
  timeout_ms integer not null,
  -- A call is taken once: nobody sends one that is not `asked`.
  status text not null default 'asked' check (status in ('asked', 'taken', 'done')),
  outcome text,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  primary key (developer_id, id)
);

create index relay_calls_of_holder on relay_calls (holder_id) where status = 'asked';
create index relay_calls_of_agent on relay_calls (developer_id, agent_id);
