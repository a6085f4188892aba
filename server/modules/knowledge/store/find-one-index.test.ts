import { afterAll, beforeAll, expect, test } from 'vitest';
import { queryRows } from '../../../testing/query-rows.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/test-database.ts';
import { documentOfNumber, IN_BASE_BY_ID } from './find-one-index.ts';

let database: TestDatabase;

const DOCUMENTS = `insert into knowledge_documents (developer_id, base_no, no, id, title, content, metadata, created_at)
  select 'dev', 1, n, 'doc_' || n, n::text, '', '{}', now() from generate_series(1, 2000) n`;

beforeAll(async () => {
  database = await createTestDatabase();
  await queryRows(database.url, DOCUMENTS);
});
afterAll(() => database.drop());

// Each names all columns of its index, so that no other one was of use, and the table has no statistics yet.
test.each([
  [
    `select * from generate_series(1, 5) w (no) join ${documentOfNumber('w.no')}`,
    /using knowledge_documents_pkey .*\n\s+Index Cond: .*developer_id = .*base_no = .*no = w\.no/u,
  ],
  [
    `select * from knowledge_documents where ${IN_BASE_BY_ID} and id = 'doc_7'`,
    /using knowledge_documents_by_id .*\n\s+Index Cond: .*developer_id \|\| .*id = 'doc_7'/u,
  ],
  [
    `select * from knowledge_documents where ${IN_BASE_BY_ID} and id > 'doc_7' order by id limit 5`,
    /using knowledge_documents_by_id .*\n\s+Index Cond: .*developer_id \|\| .*id > 'doc_7'/u,
  ],
  [
    `select * from knowledge_documents
      where developer_id || '' = $1 and base_no = $2 and md5(title) = md5('7') and title = '7' order by no desc limit 1`,
    /knowledge_documents_by_title .*\n\s+Index Cond: .*md5\(title\) = .*base_no = 1/u,
  ],
  [
    'delete from knowledge_vectors where developer_id = $1 and base_no = $2 and document_no = 3',
    /knowledge_vectors_pkey .*\n\s+Index Cond: .*document_no = 3/u,
  ],
])('%s', async (sql, plan) => {
  const explain = `explain ${sql.replaceAll('$1', `'dev'`).replaceAll('$2', '1')}`;
  const rows = await queryRows(database.url, explain);
  expect(rows.map((row) => String(row['QUERY PLAN'])).join('\n')).toMatch(plan);
});
