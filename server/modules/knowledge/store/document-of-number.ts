/**
 * SQL that gives the document of a number as `d`, to be joined `on d.no = ...`. It asks for the first one from there on,
 * in the order of the primary key: until a table has statistics, all indexes that begin with the same columns look alike
 * for an equality, and one of the others means walking through all documents of the base for each passage.
 */
export function documentOfNumber(no: string): string {
  return `lateral (
    select * from knowledge_documents where developer_id = $1 and base_no = $2 and no >= ${no} order by no limit 1
  ) d`;
}
