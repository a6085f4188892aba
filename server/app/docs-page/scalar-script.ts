import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const READER = fileURLToPath(new URL('./read-scalar-script.ts', import.meta.url));
const TIMEOUT_MS = 30_000;
const MAX_BYTES = 16 * 1024 * 1024;

async function load(): Promise<Buffer> {
  // No settings are handed on: the reader needs none, and they hold secrets. Windows programs need SystemRoot.
  // oxlint-disable-next-line node/no-process-env -- not a setting, and this process gets no others
  const env = { SystemRoot: process.env['SystemRoot'] };
  const options = { encoding: 'buffer', timeout: TIMEOUT_MS, maxBuffer: MAX_BYTES, env } as const;
  const { stdout } = await promisify(execFile)(process.execPath, [READER], options);
  return stdout;
}

let loading: Promise<Buffer> | undefined;

/** The script of the reference page, gzipped. Loaded when first asked for; a failure is tried again next time. */
export function scalarScript(): Promise<Buffer> {
  loading ??= load().catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}
