import type { Secret } from '../config/index.ts';
import { keyFileMark, keyFileOf, makeKeyFile, readKeyFile } from './key-file.ts';
import { decodeMasterKeys, type MasterKey } from './master-key.ts';

/** The keys of this process: one seals; others, while a rotation is under way, still open. */
export interface MasterKeys {
  /** The key that seals now. */
  present: () => MasterKey;
  find: (id: string) => MasterKey | undefined;
}

type Keys = readonly [MasterKey, ...MasterKey[]];

/** Keys that stay as they are; the first seals. */
export function fixedKeys(keys: Keys): MasterKeys {
  const byId = new Map(keys.map((key) => [key.id, key]));
  return { present: () => keys[0], find: (id) => byId.get(id) };
}

/** The keys of a file, which is read again when it was replaced. What was known once still opens. */
function keysOfFile(path: string): MasterKeys {
  let mark = keyFileMark(path);
  let [present, ...others] = readKeyFile(path);
  const known = new Map([present, ...others].map((key) => [key.id, key]));
  const refresh = (): void => {
    const newMark = keyFileMark(path);
    if (newMark === mark) return;
    [present, ...others] = readKeyFile(path);
    for (const key of [present, ...others]) known.set(key.id, key);
    mark = newMark;
  };
  return {
    present: () => {
      refresh();
      return present;
    },
    find: (id) => {
      if (!known.has(id)) refresh();
      return known.get(id);
    },
  };
}

interface KeySource {
  /** ENCRYPTION_KEY */
  given: Secret | undefined;
  dataDir: string;
}

/** The keys of ENCRYPTION_KEY; undefined when it is not set. */
function givenKeys({ given }: Pick<KeySource, 'given'>): Keys | undefined {
  // The text was checked when the settings were read.
  return given && decodeMasterKeys(given.reveal().trim());
}

/**
 * The given keys, else those of DATA_DIR/master.key, which the first start makes. Throws an Error that names the file
 * when it does not hold a key; never replaces one.
 */
export async function openMasterKeys(source: KeySource): Promise<MasterKeys> {
  const given = givenKeys(source);
  if (given) return fixedKeys(given);
  const path = keyFileOf(source.dataDir);
  if (keyFileMark(path) === undefined) await makeKeyFile(source.dataDir);
  return keysOfFile(path);
}
