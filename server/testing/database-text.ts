import { Client } from 'pg';

/** Every row of every table of a database, as text: what a dump of it holds. */
export async function databaseText(url: string): Promise<string> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema') order by 1`,
    );
    const texts: string[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query<{ text: string }>(`select row_to_json(t)::text as text from ${name} t`);
      texts.push(`${name} (${rows.length})`, ...rows.map(({ text }) => text));
    }
    if (tables.length === 0) throw new Error('the database has no tables');
    return texts.join('\n');
  } finally {
    await client.end();
  }
}
