// Conditions that only one index of knowledge_documents can serve. A planner without statistics, or a plan from when a table
// was small, takes any index whose first columns are asked for, and walks through the whole base with it.

/** SQL that is true for the documents of base `$2` of developer `$1`, to be asked for by their ids. */
export const IN_BASE_BY_ID = `developer_id || base_no::text = $1::text || $2::bigint::text`;

/** SQL of a lateral join that gives the document of a number in base `$2` of developer `$1`, as `d`. */
export function documentOfNumber(no: string): string {
  return `lateral (
    select * from knowledge_documents where developer_id = $1 and base_no = $2 and no = ${no} limit 1
  ) d on true`;
}
