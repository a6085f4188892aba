create table developers (
  id text primary key,
  name text not null,
  tier text not null check (tier in ('free', 'basic', 'pro', 'enterprise')),
  enabled boolean not null default true,
  is_operator boolean not null default false,
  created_at timestamptz not null default now()
);

-- There is one first developer, whichever replica starts first.
create unique index developers_one_operator on developers (is_operator) where is_operator;

create table api_keys (
  developer_id text not null references developers (id),
  id text not null,
  key_hash bytea not null,
  key_start text not null,
  secret_hash bytea not null,
  name text not null,
  permissions text[] not null,
  tier text not null,
  enabled boolean not null default true,
  -- True for a key whose value was chosen by hand: it carries no checksum.
  is_custom boolean not null default false,
  created_at timestamptz not null default now(),
  primary key (developer_id, id)
);

create index api_keys_by_hash on api_keys (key_hash);

create table usage_counters (
  developer_id text not null,
  key_id text not null,
  day date not null,
  requests bigint not null,
  primary key (developer_id, key_id, day)
);

-- The last batch that each process added to usage_counters: a batch is never added twice.
create table usage_writers (
  writer_id text primary key,
  last_batch bigint not null,
  seen_at timestamptz not null default now()
);
