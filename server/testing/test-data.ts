import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const DEFAULT = fileURLToPath(new URL('../../../shared/data', import.meta.url));

/** A file of the real data that tests measure with (TEST_DATA_DIR); undefined, and said once, where it is not there. */
export function testDataFile(name: string): string | undefined {
  const file = `${process.env['TEST_DATA_DIR'] ?? DEFAULT}/${name}`;
  if (existsSync(file)) return file;
  process.stdout.write(`left out: tests on ${name}, which is not in TEST_DATA_DIR\n`);
  return undefined;
}
