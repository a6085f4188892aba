import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { BodyReader } from './body-reader.ts';

/** A body that makes bytes on demand, and counts them. */
function endlessBody() {
  const state = { bytesMade: 0 };
  const body = new Readable({
    highWaterMark: 4096,
    read() {
      state.bytesMade += 1024;
      setImmediate(() => this.push(Buffer.alloc(1024)));
    },
  });
  return { body, state };
}

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}

describe('a body', () => {
  it('is read no faster than its bytes are taken', async () => {
    const { body, state } = endlessBody();
    const reader = new BodyReader(body, Infinity);
    await turns(50);
    expect(state.bytesMade).toBeLessThanOrEqual(5 * 1024);
    expect(reader.take()?.length).toBe(4096);
    await turns(50);
    expect(state.bytesMade).toBeLessThanOrEqual(10 * 1024);
    reader.destroy();
  });

  it('that is too large is cut off', async () => {
    const { body } = endlessBody();
    await expect(new BodyReader(body, 100_000).readAll()).rejects.toThrow(/larger than 100000 bytes/);
    expect(body.destroyed).toBe(true);
  });

  it('that never ends after what mattered is cut off', async () => {
    const { body, state } = endlessBody();
    await new BodyReader(body, Infinity).drain();
    expect(body.destroyed).toBe(true);
    expect(state.bytesMade).toBeLessThan(100_000);
  });

  it('gives its bytes, its end and its error', async () => {
    expect((await new BodyReader(Readable.from([Buffer.from('ab'), Buffer.from('c')]), 3).readAll()).toString()).toBe(
      'abc',
    );
    const failing = new Readable({
      read() {
        this.destroy(new Error('reset'));
      },
    });
    await expect(new BodyReader(failing, 3).readAll()).rejects.toThrow('reset');
    await expect(new BodyReader(failing, 3).readAll()).rejects.toThrow('reset');
  });
});
