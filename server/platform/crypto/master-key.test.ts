import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readSettings, Secret } from '../config/index.ts';
import { cryptoSettings, readMasterKey } from './index.ts';

let folder: string;
let dataDir: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tessera-key-'));
  dataDir = join(folder, 'data');
});
afterEach(() => rm(folder, { recursive: true }));

test('the first start makes a key that only its owner can read, later ones read it', async () => {
  const key = await readMasterKey({ given: undefined, dataDir });
  expect(key).toHaveLength(32);
  expect((await stat(join(dataDir, 'master.key'))).mode & 0o777).toBe(0o600);
  expect(await readMasterKey({ given: undefined, dataDir })).toEqual(key);
  expect(await readdir(dataDir)).toEqual(['master.key']);
});

test('starts at the same time agree', async () => {
  const keys = await Promise.all(Array.from({ length: 20 }, () => readMasterKey({ given: undefined, dataDir })));
  expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(1);
  expect(await readdir(dataDir)).toEqual(['master.key']);
});

test('the text of the file can be given as the setting, and then no file is made', async () => {
  const key = await readMasterKey({ given: undefined, dataDir });
  const text = (await readFile(join(dataDir, 'master.key'), 'utf8')).trim();
  await rm(dataDir, { recursive: true });
  expect(await readMasterKey({ given: new Secret(text), dataDir })).toEqual(key);
  await expect(readdir(dataDir)).rejects.toThrow('ENOENT');
});

test.each([
  ['empty', '', '0 bytes'],
  ['cut short', `${'A'.repeat(40)}\n`, '41 bytes'],
  ['too long', `${'A'.repeat(50)}\n`, '51 bytes'],
])('a file that is %s is refused and left as it is', async (_name, content, length) => {
  await readMasterKey({ given: undefined, dataDir });
  const path = join(dataDir, 'master.key');
  await writeFile(path, content);
  const refused = readMasterKey({ given: undefined, dataDir });
  await expect(refused).rejects.toThrow(`The key file ${path} is damaged`);
  await expect(refused).rejects.toThrow(length);
  expect(await readFile(path, 'utf8')).toBe(content);
});

function mistakesOf(text: string): string[] {
  const mistakes: string[] = [];
  readSettings(cryptoSettings, { ENCRYPTION_KEY: text }, mistakes);
  return mistakes;
}

describe('ENCRYPTION_KEY', () => {
  test('is 32 bytes in base64', () => {
    expect(mistakesOf(Buffer.alloc(32, 1).toString('base64'))).toEqual([]);
    expect(mistakesOf('')).toEqual([]);
  });

  test.each([Buffer.alloc(16).toString('base64'), Buffer.alloc(33).toString('base64'), 'x'.repeat(32), '0'.repeat(64)])(
    'else the start fails, without repeating it: %s',
    (text) => {
      expect(mistakesOf(text)).toEqual(['ENCRYPTION_KEY must be 32 bytes in base64 (openssl rand -base64 32)']);
    },
  );
});
