import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSseReader } from './sse-events.ts';
import { cutAt, framingCases, hasRecordings } from '../../testing/scripted-vendor-recordings.ts';

function read(pieces: Uint8Array[]): string[] {
  const events: string[] = [];
  const reader = createSseReader((data) => events.push(data));
  for (const piece of pieces) reader.push(piece);
  return events;
}

describe.skipIf(!hasRecordings)('the cases of the SSE standard', () => {
  const cases = framingCases();

  it('are there', () => {
    expect(cases.length).toBeGreaterThan(10);
  });

  it.each(cases)('$name', ({ bytes, expected }) => {
    expect(read([bytes])).toEqual(expected);
    expect(read(cutAt(bytes, [...bytes.keys()]))).toEqual(expected);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length)), (offsets) => {
        expect(read(cutAt(bytes, offsets))).toEqual(expected);
      }),
    );
  });
});

describe('an event stream', () => {
  it('gives the same events wherever its bytes are cut, with any line ends and any text', () => {
    const line = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll(/[\r\n]/g, ''));
    const lineEnd = fc.constantFrom('\n', '\r', '\r\n');
    fc.assert(
      fc.property(fc.array(line), lineEnd, fc.array(fc.nat(2000)), (lines, end, offsets) => {
        const bytes = Buffer.from(lines.map((text) => `data: ${text}${end}${end}`).join(''));
        expect(read(cutAt(bytes, offsets))).toEqual(lines);
      }),
    );
  });

  it('replaces bytes that are not UTF-8 instead of failing', () => {
    expect(read([Buffer.concat([Buffer.from('data: a'), Buffer.from([0xff]), Buffer.from('b\n\n')])])).toEqual(['a�b']);
  });

  it.each(['data: ', 'data: x\ndata: '])('refuses an event that never ends: %j', (start) => {
    const reader = createSseReader(() => {}, 1000);
    const grow = () => {
      reader.push(Buffer.from(start));
      for (let i = 0; i < 20; i++) reader.push(Buffer.from('x'.repeat(100)));
    };
    expect(grow).toThrow(/max buffer size/);
  });
});
