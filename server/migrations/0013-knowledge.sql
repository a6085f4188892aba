-- Knowledge bases. Every write locks the row of its base and raises the counter, so that the order of commits is the
-- order of numbers; processes that hold a base in memory read what is above the number they know.
create table knowledge_bases (
  developer_id text collate "C" not null,
  id text collate "C" not null,
  no bigint generated always as identity,
  name text not null,
  description text not null,
  type text collate "C" not null check (type in ('general', 'faq', 'manual')),
  document_count integer not null default 0,
  counter bigint not null default 0,
  -- Raised by each batch of vectors.
  vector_counter bigint not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (developer_id, id)
);

-- A document's no is the counter of the write that stored it: content that changes gets a new one and keeps its id.
create table knowledge_documents (
  developer_id text collate "C" not null,
  base_no bigint not null,
  no bigint not null,
  id text collate "C" not null,
  title text not null,
  content text not null,
  -- json, not jsonb: the caller reads back what it wrote, in its own order.
  metadata json not null,
  created_at timestamptz not null,
  primary key (developer_id, base_no, no)
);

create unique index knowledge_documents_by_id on knowledge_documents (developer_id, base_no, id);
create index knowledge_documents_by_title on knowledge_documents (md5(title), base_no);

create table knowledge_chunks (
  developer_id text collate "C" not null,
  base_no bigint not null,
  document_no bigint not null,
  position integer not null,
  -- In the content, in UTF-16 code units.
  start_offset integer not null,
  end_offset integer not null,
  -- The headings above the text, which are matched and not repeated.
  heading text not null,
  text text not null,
  primary key (developer_id, base_no, document_no, position)
);

-- Which documents went, for processes that hold them in memory. Old rows are deleted: a process that is further behind
-- loads the base anew.
create table knowledge_removals (
  developer_id text collate "C" not null,
  base_no bigint not null,
  counter bigint not null,
  document_no bigint not null,
  primary key (developer_id, base_no, counter, document_no)
);

create table knowledge_vectors (
  developer_id text collate "C" not null,
  base_no bigint not null,
  document_no bigint not null,
  position integer not null,
  model text collate "C" not null,
  -- The vector_counter of the batch that stored it.
  no bigint not null,
  -- 32-bit floats, little endian, of length 1; null where the model has nothing to say of the text.
  vector bytea,
  primary key (developer_id, base_no, document_no, position, model)
);

-- Floats do not compress.
alter table knowledge_vectors alter column vector set storage external;

create index knowledge_vectors_by_no on knowledge_vectors (developer_id, base_no, model, no);

-- How far the vectors of a base are, for each model. One process at a time works on a row, for as long as it renews its
-- lease.
create table knowledge_embeddings (
  developer_id text collate "C" not null,
  base_no bigint not null,
  model text collate "C" not null,
  -- Chunks up to this one, in the order of their documents, have their vectors.
  document_no bigint not null default 0,
  position integer not null default -1,
  owner text collate "C",
  leased_until timestamptz,
  primary key (developer_id, base_no, model)
);
