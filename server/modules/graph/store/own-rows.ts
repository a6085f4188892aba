/**
 * The condition that a row of table `t` is of developer $1 and graph $2, for look-ups by an index that leads with
 * something else. Written so that the primary key, which leads with the developer, is out of the question: to the
 * planner both look alike while a table is young, and it would walk through the whole graph.
 */
export function ownRows(t: string): string {
  return `${t}.graph_no = $2 and ${t}.developer_id || '' = $1`;
}
