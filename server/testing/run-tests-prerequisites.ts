import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** A program that some tests need beside Node, the Debian package that has it, and where it may be. */
interface Prerequisite {
  name: string;
  debianPackage: string;
  isPresent: () => boolean;
}

const INSTALLER = join(import.meta.dirname, 'run-tests-install.sh');
const INSTALL_TIMEOUT_MS = 10 * 60_000;

const PREREQUISITES: readonly Prerequisite[] = [
  {
    name: 'chromium',
    debianPackage: 'chromium',
    isPresent: () =>
      existsSync(process.env['CHROMIUM_PATH'] ?? '') ||
      ['chromium', 'chromium-browser', 'google-chrome'].some((name) => existsSync(`/usr/bin/${name}`)),
  },
  { name: 'redis', debianPackage: 'redis-server', isPresent: () => isOnPath('redis-server') },
];

/** Installs what is missing where Debian's packages can be installed, and returns what is missing still. */
export function providePrerequisites(say: (line: string) => void): Prerequisite[] {
  const missing = PREREQUISITES.filter(({ isPresent }) => !isPresent());
  const asRoot = missing.length > 0 && isOnPath('apt-get') ? commandAsRoot() : undefined;
  if (asRoot === undefined) return missing;
  const packages = missing.map(({ debianPackage }) => debianPackage);
  const log = join(tmpdir(), 'tessera-test-prerequisites.log');
  say(`Installing ${packages.join(' and ')} for the tests, which takes a minute or two (log: ${log}) ...`);
  install([...asRoot, 'sh', INSTALLER, ...packages], log);
  return missing.filter(({ isPresent }) => !isPresent());
}

/** What to put before a command so that it runs as root: nothing, sudo, or undefined where that is not possible. */
function commandAsRoot(): string[] | undefined {
  if (process.getuid?.() === 0) return [];
  const sudo = ['sudo', '-n'];
  return spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0 ? sudo : undefined;
}

function install([program = '', ...args]: string[], log: string): void {
  const output = openSync(log, 'w');
  spawnSync(program, args, { stdio: ['ignore', output, output], timeout: INSTALL_TIMEOUT_MS });
  closeSync(output);
}

function isOnPath(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));
}
