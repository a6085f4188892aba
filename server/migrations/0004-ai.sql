-- What was said, in order of id. Only finished chats leave turns, always a question and its answer together.
create table conversation_turns (
  developer_id text not null,
  conversation_id text not null,
  id text collate "C" not null,
  role text not null check (role in ('user', 'assistant')),
  content text not null,
  created_at timestamptz not null default now(),
  primary key (developer_id, conversation_id, id)
);

-- One row for every chat, however it ended.
create table ai_usage (
  developer_id text not null,
  id text not null,
  key_id text not null,
  request_id text not null,
  model text not null,
  outcome text not null check (outcome in ('finished', 'failed', 'abandoned')),
  input_tokens bigint not null,
  output_tokens bigint not null,
  steps integer not null,
  started_at timestamptz not null,
  duration_ms double precision not null,
  primary key (developer_id, id)
);
