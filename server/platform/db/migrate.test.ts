import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../testing/test-database.ts';
import { migrate, openDatabase, type Database } from './index.ts';

let home: TestDatabase;
let db: Database;
let folder: string;

beforeEach(async () => {
  home = await createTestDatabase();
  db = openDatabase({ url: home.url, maxConnections: 1, applicationName: 'test', onError: () => undefined });
  await db.query({ text: 'drop table schema_migrations' });
  folder = await mkdtemp(join(tmpdir(), 'tessera-migrations-'));
  await write('0001-first.sql', 'create table first (id int);');
  await write('0002-second.sql', 'create table second (id int); insert into second values (1);');
});

afterEach(async () => {
  await db.close();
  await home.drop();
  await rm(folder, { recursive: true });
});

function write(file: string, sql: string): Promise<void> {
  return writeFile(join(folder, file), sql);
}

test('files are applied in order, once', async () => {
  expect(await migrate({ database: db, folder })).toEqual(['0001-first', '0002-second']);
  expect(await migrate({ database: db, folder })).toEqual([]);
  await write('0003-third.sql', 'create table third (id int);');
  expect(await migrate({ database: db, folder })).toEqual(['0003-third']);
});

test('replicas that start together apply every file once', async () => {
  const others = Array.from({ length: 5 }, () =>
    openDatabase({ url: home.url, maxConnections: 1, applicationName: 'test', onError: () => undefined }),
  );
  const applied = await Promise.all(others.map((database) => migrate({ database, folder })));
  expect(applied.flat().toSorted()).toEqual(['0001-first', '0002-second']);
  expect((await db.query({ text: 'select from second' })).rowCount).toBe(1);
  await Promise.all(others.map((database) => database.close()));
});

test('a file that fails leaves nothing of itself, and what was before it stays', async () => {
  await write('0003-broken.sql', 'create table third (id int); select nonsense;');
  await expect(migrate({ database: db, folder })).rejects.toThrow('Migration 0003-broken failed.');
  const { rows } = await db.query({
    text: `select to_regclass('second') is not null as second, to_regclass('third') as third`,
  });
  expect(rows).toEqual([{ second: true, third: null }]);
});

test('a file that changed after it was applied is refused by name', async () => {
  await migrate({ database: db, folder });
  await write('0001-first.sql', 'create table first (id bigint);');
  await expect(migrate({ database: db, folder })).rejects.toThrow('Migration 0001-first was changed');
});

test('line ends do not count as a change', async () => {
  await write('0001-first.sql', 'create table first (\n  id int\n);');
  await migrate({ database: db, folder });
  await write('0001-first.sql', 'create table first (\r\n  id int\r\n);');
  expect(await migrate({ database: db, folder })).toEqual([]);
});

test('a database newer than the program is refused with both versions', async () => {
  await write('0003-third.sql', 'select 1;');
  await migrate({ database: db, folder });
  await rm(join(folder, '0003-third.sql'));
  await expect(migrate({ database: db, folder })).rejects.toThrow(
    'The database has schema version 0003-third, but this program knows versions only up to 0002-second: run the newer program.',
  );
});

test('two files with one number, and a misnamed file, are refused', async () => {
  await write('0002-twin.sql', 'select 1;');
  await expect(migrate({ database: db, folder })).rejects.toThrow('0002-second and 0002-twin have the same number');
  await rm(join(folder, '0002-twin.sql'));
  await write('three.sql', 'select 1;');
  await expect(migrate({ database: db, folder })).rejects.toThrow('not named like');
});
