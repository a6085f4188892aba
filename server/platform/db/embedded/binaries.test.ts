import { access } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { findBinaries } from './binaries.ts';

test('the programs of this machine are found', async () => {
  const { initdb, postgres } = await findBinaries();
  await expect(Promise.all([access(initdb), access(postgres)])).resolves.toBeDefined();
});

test('a machine without binaries is told of DATABASE_URL', async () => {
  await expect(findBinaries('plan9-mips')).rejects.toThrow(
    'There is no embedded PostgreSQL for plan9-mips in node_modules: run npm install, or set DATABASE_URL to your own PostgreSQL.',
  );
});
