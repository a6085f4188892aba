-- One partition per UTC day, made ahead by the service, so that old days are given back by dropping a table.
create table call_log (
  developer_id text not null,
  -- Tells rows of one moment apart, in the order in which they were written.
  seq bigint generated always as identity,
  key_id text not null,
  request_id text not null,
  method text not null,
  endpoint text not null,
  status smallint not null,
  at timestamptz not null,
  response_time_ms double precision not null,
  primary key (developer_id, at, seq)
) partition by range (at);
