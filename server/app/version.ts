import { readFileSync } from 'node:fs';

function readVersion(): string {
  const file: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const isVersioned = typeof file === 'object' && file !== null && 'version' in file;
  return isVersioned ? String(file.version) : 'unknown';
}

/** The version of this program, as package.json states it. */
export const version = readVersion();
