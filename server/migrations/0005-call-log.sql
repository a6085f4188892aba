-- One partition per UTC day, made ahead by the service, so that old days are given back by dropping a table.
create table call_log (
  developer_id text not null,
  id text not null,
  key_id text not null,
  request_id text not null,
  method text not null,
  endpoint text not null,
  status smallint not null,
  at timestamptz not null,
  response_time_ms double precision not null,
  primary key (developer_id, at, id)
) partition by range (at);
