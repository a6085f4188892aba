create table apps (
  developer_id text not null,
  app_id text collate "C" not null,
  id text collate "C" not null,
  -- json, not jsonb: the caller reads back what it wrote, in its own order. Secrets in it are "***".
  definition json not null,
  -- What stands at those places: JSON pointer to sealed text.
  secrets json not null default '{}',
  status text not null default 'draft' check (status in ('draft', 'published')),
  -- The latest published version; 0 before the first.
  version integer not null default 0,
  published_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (developer_id, app_id)
);

-- The marketplace finds apps of every developer by it.
create unique index apps_by_id on apps (id);
create index apps_published on apps (id) where status = 'published';

-- What was published: definition, tools and packs of that moment.
create table app_versions (
  -- The publisher.
  developer_id text not null,
  -- apps.id; a version outlives its app as long as it is installed.
  app_key text collate "C" not null,
  version integer not null,
  manifest json not null,
  -- Header templates of the service: name to sealed text.
  secrets json not null default '{}',
  created_at timestamptz not null default now(),
  primary key (developer_id, app_key, version)
);

create table app_installations (
  -- The installer.
  developer_id text not null,
  id text collate "C" not null,
  publisher_id text not null,
  app_key text collate "C" not null,
  version integer not null,
  -- Name to sealed text.
  credentials json not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (developer_id, id),
  unique (developer_id, app_key),
  foreign key (publisher_id, app_key, version) references app_versions
);

create index app_installations_of_version on app_installations (publisher_id, app_key, version);
