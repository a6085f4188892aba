import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Migration {
  version: number;
  /** File name without the extension. */
  name: string;
  sha256: string;
  sql: string;
}

const FILE = /^(\d{4})-[a-z0-9-]+\.sql$/;

async function readMigration(folder: string, file: string): Promise<Migration> {
  const version = FILE.exec(file)?.[1];
  if (version === undefined) throw new Error(`${file} in ${folder} is not named like 0001-what-it-does.sql.`);
  const sql = await readFile(join(folder, file), 'utf8');
  // Line ends differ between checkouts of the same text.
  const sha256 = createHash('sha256').update(sql.replaceAll('\r\n', '\n')).digest('hex');
  return { version: Number(version), name: file.slice(0, -'.sql'.length), sha256, sql };
}

/** The migrations of a folder, in order. Throws when a name is malformed or a number is used twice. */
export async function readMigrations(folder: string): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).toSorted();
  const migrations = await Promise.all(files.map((file) => readMigration(folder, file)));
  for (const [index, { version, name }] of migrations.entries()) {
    const twin = migrations[index + 1];
    if (twin?.version === version) throw new Error(`Migrations ${name} and ${twin.name} have the same number.`);
  }
  return migrations;
}
