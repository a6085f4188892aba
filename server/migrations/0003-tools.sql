create table tools (
  developer_id text not null,
  name text not null,
  id text not null,
  description text not null,
  app_id text,
  -- json, not jsonb: the caller reads back what it wrote, in its own order.
  input_schema json not null,
  execution json,
  enabled boolean not null default true,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (developer_id, name)
);

create unique index tools_by_id on tools (developer_id, id);
