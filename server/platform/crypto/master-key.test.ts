import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readSettings, Secret } from '../config/index.ts';
import { createMasterKey, cryptoSettings, keyFileOf, openMasterKeys, replaceKeyFile } from './index.ts';

let folder: string;
let dataDir: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tessera-key-'));
  dataDir = join(folder, 'data');
});
afterEach(() => rm(folder, { recursive: true }));

function open(given?: string) {
  return openMasterKeys({ given: given === undefined ? undefined : new Secret(given), dataDir });
}

test('the first start makes a key that only its owner can read, later ones read it', async () => {
  const key = (await open()).present();
  expect(key.bytes).toHaveLength(32);
  expect((await stat(keyFileOf(dataDir))).mode & 0o777).toBe(0o600);
  expect((await open()).present()).toEqual(key);
  expect(await readdir(dataDir)).toEqual(['master.key']);
});

test('starts at the same time agree', async () => {
  const all = await Promise.all(Array.from({ length: 20 }, () => open()));
  expect(new Set(all.map((keys) => keys.present().id)).size).toBe(1);
  expect(await readdir(dataDir)).toEqual(['master.key']);
});

test('the text of the file can be given as the setting, and then no file is made', async () => {
  const key = (await open()).present();
  const text = (await readFile(keyFileOf(dataDir), 'utf8')).trim();
  await rm(dataDir, { recursive: true });
  expect((await open(text)).present()).toEqual(key);
  await expect(readdir(dataDir)).rejects.toThrow('ENOENT');
});

test.each([
  ['empty', '', '0 bytes'],
  ['cut short', `${'A'.repeat(40)}\n`, '41 bytes'],
  ['too long', `${'A'.repeat(50)}\n`, '51 bytes'],
  ['cut short in its second key', `${'A'.repeat(43)}=\n${'B'.repeat(20)}\n`, '66 bytes'],
])('a file that is %s is refused and left as it is', async (_name, content, length) => {
  await open();
  const path = keyFileOf(dataDir);
  await writeFile(path, content);
  const refused = open();
  await expect(refused).rejects.toThrow(`The key file ${path} is damaged`);
  await expect(refused).rejects.toThrow(length);
  expect(await readFile(path, 'utf8')).toBe(content);
});

describe('several keys', () => {
  test('of the setting: the first seals, all are found', async () => {
    const [one, two, other] = [createMasterKey(), createMasterKey(), createMasterKey()];
    const keys = await open(`${one.bytes.toString('base64')}, ${two.bytes.toString('base64')}`);
    expect(keys.present()).toEqual(one);
    expect([one, two, other].map(({ id }) => keys.find(id))).toEqual([one, two, undefined]);
  });

  test('a file that was replaced is read again; what was known once is still found', async () => {
    const keys = await open();
    const [before, after] = [keys.present(), createMasterKey()];
    expect(keys.find(after.id)).toBeUndefined();
    await replaceKeyFile(dataDir, [after, before]);
    expect(keys.find(after.id)).toEqual(after);
    expect(keys.present()).toEqual(after);
    await replaceKeyFile(dataDir, [after]);
    expect(keys.present()).toEqual(after);
    expect(keys.find(before.id)).toEqual(before);
    expect((await open()).find(before.id)).toBeUndefined();
    expect((await stat(keyFileOf(dataDir))).mode & 0o777).toBe(0o600);
    expect(await readdir(dataDir)).toEqual(['master.key']);
  });

  test('what an interrupted replacement left behind is written over', async () => {
    const key = (await open()).present();
    await writeFile(`${keyFileOf(dataDir)}.draft`, 'half of a k');
    await chmod(`${keyFileOf(dataDir)}.draft`, 0o600);
    await replaceKeyFile(dataDir, [key]);
    expect((await open()).present()).toEqual(key);
    expect(await readdir(dataDir)).toEqual(['master.key']);
  });
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
    expect(mistakesOf(`${'A'.repeat(43)}=,${'B'.repeat(43)}=`)).toEqual([]);
  });

  test.each([
    Buffer.alloc(16).toString('base64'),
    Buffer.alloc(33).toString('base64'),
    'x'.repeat(32),
    '0'.repeat(64),
    `${'A'.repeat(43)}=,`,
  ])('else the start fails, without repeating it: %s', (text) => {
    expect(mistakesOf(text)).toEqual(['ENCRYPTION_KEY must be 32 bytes in base64 (openssl rand -base64 32)']);
  });
});
