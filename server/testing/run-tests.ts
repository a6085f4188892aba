import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { providePrerequisites } from './run-tests-prerequisites.ts';
import { countTests, isSuccess, summaryLine, type TestCounts, type VitestReport } from './run-tests-summary.ts';

/*
 * `npm test`: provides what the tests need, runs them, and ends with the line `N passed, N failed`. Arguments go to
 * Vitest. What cannot be provided leaves tests out, except with CI=true, where it is a failure.
 */

const ROOT = resolve(import.meta.dirname, '../..');
const VITEST = join(dirname(fileURLToPath(import.meta.resolve('vitest/package.json'))), 'vitest.mjs');

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** The environment the tests run in, and a line for everything they have to do without. */
function prepare(): { env: NodeJS.ProcessEnv; lacking: string[] } {
  const missing = providePrerequisites(say);
  const dataDir = resolve(ROOT, process.env['TEST_DATA_DIR'] ?? '../shared/data');
  const lacking = missing.map(
    ({ name, debianPackage }) =>
      `${name} is missing (apt-get install ${debianPackage}): the tests that need it are left out.`,
  );
  if (!existsSync(dataDir)) {
    lacking.push(`There is no folder ${dataDir}; TEST_DATA_DIR can name it: the tests on real data are left out.`);
  }
  const without = missing.map(({ name }) => name).join(',');
  return { env: { ...process.env, TEST_DATA_DIR: dataDir, TESSERA_WITHOUT: without }, lacking };
}

async function runVitest(args: string[], env: NodeJS.ProcessEnv): Promise<TestCounts> {
  const folder = await mkdtemp(join(tmpdir(), 'tessera-test-report-'));
  const file = join(folder, 'report.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const child = spawn(process.execPath, [VITEST, 'run', ...reporters, ...args], { cwd: ROOT, env, stdio: 'inherit' });
  await once(child, 'exit');
  const report = await readReport(file);
  await rm(folder, { recursive: true });
  return countTests(report, child.exitCode);
}

async function readReport(file: string): Promise<VitestReport | undefined> {
  if (!existsSync(file)) return undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the reporter's documented form
  return JSON.parse(await readFile(file, 'utf8')) as VitestReport;
}

async function main(): Promise<void> {
  const { env, lacking } = prepare();
  for (const line of lacking) say(line);
  const isRefused = lacking.length > 0 && process.env['CI'] === 'true';
  if (isRefused) say('With CI=true nothing may be left out, so no test was run.');
  const counts = isRefused
    ? { passed: 0, failed: lacking.length, skipped: 0 }
    : await runVitest(process.argv.slice(2), env);
  if (counts.passed + counts.failed === 0) say('No test ran.');
  say(summaryLine(counts));
  process.exitCode = isSuccess(counts) ? 0 : 1;
}

await main();
