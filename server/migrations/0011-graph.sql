-- Knowledge graphs. Inside a graph, nodes, types and relations have numbers: edges are four integers, and memory holds
-- the same numbers. Every write locks the row of its graph, so numbers, counts and the counter need no other care.
create table graphs (
  developer_id text collate "C" not null,
  app_id text collate "C" not null,
  no bigint generated always as identity,
  -- Raised by every write that changes something.
  counter bigint not null default 0,
  next_node integer not null default 0,
  next_word integer not null default 0,
  node_count integer not null default 0,
  edge_count integer not null default 0,
  pending_edge_count integer not null default 0,
  primary key (developer_id, app_id)
);

-- Types of nodes and relations of edges.
create table graph_words (
  developer_id text collate "C" not null,
  graph_no bigint not null,
  kind text collate "C" not null check (kind in ('type', 'relation')),
  word text collate "C" not null,
  no integer not null,
  uses integer not null default 0,
  primary key (developer_id, graph_no, kind, word)
);

-- Further indexes lead with what tells rows apart: two that begin with the graph look alike to the planner while a
-- table is young, and it would walk through a whole graph for each row.
create unique index graph_words_by_no on graph_words (no, graph_no);

create table graph_nodes (
  developer_id text collate "C" not null,
  graph_no bigint not null,
  no integer not null,
  type_no integer not null,
  external_id text collate "C" not null,
  name text collate "C" not null,
  -- JSON text as it was written; null for none.
  properties text,
  primary key (developer_id, graph_no, external_id)
);

create unique index graph_nodes_by_no on graph_nodes (no, graph_no);
create index graph_nodes_by_name on graph_nodes (name, graph_no);

create table graph_edges (
  developer_id text collate "C" not null,
  graph_no bigint not null,
  from_no integer not null,
  to_no integer not null,
  relation_no integer not null,
  properties text,
  primary key (developer_id, graph_no, from_no, to_no, relation_no)
);

create index graph_edges_by_target on graph_edges (to_no, graph_no, from_no, relation_no);

-- Edges with an end that does not exist yet, as they were written.
create table graph_pending_edges (
  developer_id text collate "C" not null,
  graph_no bigint not null,
  from_ref text collate "C" not null,
  to_ref text collate "C" not null,
  relation text collate "C" not null,
  properties text,
  primary key (developer_id, graph_no, from_ref, to_ref, relation)
);

create index graph_pending_edges_by_target on graph_pending_edges (to_ref, graph_no);

-- What small writes changed, for processes that hold the graph in memory. A counter without a row here was a large
-- write, after which they load anew.
create table graph_changes (
  developer_id text collate "C" not null,
  graph_no bigint not null,
  counter bigint not null,
  changes text not null,
  primary key (developer_id, graph_no, counter)
);
