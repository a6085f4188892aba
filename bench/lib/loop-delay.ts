// How long a process kept its event loop from others. Preloaded with `--import` into what a benchmark starts: each
// SIGUSR2 writes the longest hold since the one before, in milliseconds, to the file LOOP_DELAY_FILE.
import { renameSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 2;
const file = process.env['LOOP_DELAY_FILE'];

if (file !== undefined) {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  process.on('SIGUSR2', () => {
    // Renamed: whoever waits for the file finds it whole.
    writeFileSync(`${file}.part`, String(Math.max(0, delays.max / 1e6 - RESOLUTION_MS)));
    renameSync(`${file}.part`, file);
    delays.reset();
  });
}
