import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { testDataFile } from './test-data.ts';
import { asArray, asObject, parseJson } from '../modules/models/vendor-json.ts';

/** The recorded traffic that tests replay; it is not part of the source. */
const folder = testDataFile('llm-wire');

export const hasRecordings = folder !== undefined;

export interface Recording {
  name: string;
  bytes: Buffer;
}

/** The recorded streams of a vendor. */
export function recordings(vendor: 'anthropic' | 'openai'): Recording[] {
  if (folder === undefined) return [];
  const names = readdirSync(path.join(folder, vendor)).filter((name) => name.endsWith('.sse'));
  return names.map((name) => ({ name, bytes: readFileSync(path.join(folder, vendor, name)) }));
}

/** The messages of a recorded request. */
export function recordedMessages(vendor: 'anthropic' | 'openai', name: string): unknown[] {
  if (folder === undefined) return [];
  const text = readFileSync(path.join(folder, vendor, `${name}.request.json`), 'utf8');
  return asArray(asObject(parseJson(text))['messages']);
}

export interface FramingCase {
  name: string;
  bytes: Buffer;
  expected: string[];
}

/** Byte streams of the SSE standard's tests, with the data of their events. */
export function framingCases(): FramingCase[] {
  if (folder === undefined) return [];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the form of the file is fixed
  const cases = JSON.parse(readFileSync(path.join(folder, 'sse-framing.json'), 'utf8')) as {
    name: string;
    stream_base64: string;
    expected_data: string[];
  }[];
  return cases.map(({ name, stream_base64: stream, expected_data: expected }) => ({
    name,
    bytes: Buffer.from(stream, 'base64'),
    expected,
  }));
}

/** Cuts bytes at offsets, which may be in any order and repeat. */
export function cutAt(bytes: Buffer, offsets: number[]): Buffer[] {
  const sorted = [...new Set(offsets)].filter((at) => at > 0 && at < bytes.length).toSorted((a, b) => a - b);
  return [0, ...sorted].map((start, index) => bytes.subarray(start, sorted[index] ?? bytes.length));
}
