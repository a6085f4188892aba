-- What alerts need to know of the past to be raised once for each incident.

-- Incidents that were told of: one row, one alert.
create table alert_incidents (
  developer_id text not null,
  alert_type text not null,
  source text not null,
  -- Tells the incidents of one source apart.
  incident text not null,
  raised_at timestamptz not null default now(),
  primary key (developer_id, alert_type, source, incident)
);

-- How the latest calls of a tool and the latest runs of a workflow ended.
create table outcome_history (
  developer_id text not null,
  kind text not null check (kind in ('tool', 'workflow')),
  -- The name of the tool, the id of the workflow.
  source text not null,
  -- Oldest first: s for a success, f for a failure.
  outcomes text not null,
  -- As they were before the last change.
  outcomes_before text not null default '',
  updated_at timestamptz not null default now(),
  primary key (developer_id, kind, source)
);
