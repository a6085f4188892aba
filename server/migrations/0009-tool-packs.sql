create table tool_packs (
  developer_id text not null,
  pack_id text collate "C" not null,
  id text not null,
  name text not null,
  name_zh text not null,
  description text not null,
  -- Names of tools, in the caller's order; a tool of that name need not exist.
  tools text[] not null,
  knowledge text not null,
  status text not null default 'draft' check (status in ('draft', 'published')),
  created_at timestamptz not null default now(),
  primary key (developer_id, pack_id)
);
