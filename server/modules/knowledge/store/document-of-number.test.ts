import { expect, onTestFinished, test } from 'vitest';
import { queryRows } from '../../../testing/query-rows.ts';
import { createTestDatabase } from '../../../testing/test-database.ts';
import { documentOfNumber } from './document-of-number.ts';

const FILL = `insert into knowledge_documents (developer_id, base_no, no, id, title, content, metadata, created_at)
  select 'dev', 1, n, 'doc_' || n, '', '', '{}', now() from generate_series(1, 2000) n`;

async function planOf(url: string, sql: string): Promise<string> {
  const rows = await queryRows(url, `explain ${sql.replaceAll('$1', `'dev'`).replaceAll('$2', '1')}`);
  return rows.map((row) => String(row['QUERY PLAN'])).join('\n');
}

test('documents are found by their numbers, not by walking through a base, before a table has statistics', async () => {
  const database = await createTestDatabase();
  onTestFinished(database.drop);
  await queryRows(database.url, FILL);
  const numbers = 'select * from generate_series(1, 5) w (no)';
  const plan = await planOf(database.url, `${numbers} join ${documentOfNumber('w.no')} on d.no = w.no`);
  expect(plan).toMatch(/Index Scan using knowledge_documents_pkey .*\n\s+Index Cond: .*no >= w\.no/u);
  const deletion = 'delete from knowledge_vectors where developer_id = $1 and base_no = $2 and document_no = 3';
  expect(await planOf(database.url, deletion)).toMatch(/Index Cond: .*document_no = 3/u);
});
