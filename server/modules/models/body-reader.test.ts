import { describe, expect, it } from 'vitest';
import { AnswerBody } from '../../platform/net/index.ts';
import { BodyReader } from './body-reader.ts';

/** A body whose sender goes on for ever, a kilobyte a turn, unless it is held back. */
function endlessBody() {
  const state = { bytesMade: 0, isPaused: false, isAborted: false };
  const body = new AnswerBody({
    pause: () => void (state.isPaused = true),
    resume: () => {
      if (state.isPaused) setImmediate(send);
      state.isPaused = false;
    },
    abort: () => void (state.isAborted = true),
  });
  const send = (): void => {
    if (state.isPaused || state.isAborted) return;
    state.bytesMade += 1024;
    body.push(Buffer.alloc(1024));
    setImmediate(send);
  };
  setImmediate(send);
  return { body, state };
}

/** A body that has come as far as it ever will. */
function bodyOf(pieces: readonly string[], error?: Error): AnswerBody {
  const body = new AnswerBody({ pause: () => undefined, resume: () => undefined, abort: () => undefined });
  for (const piece of pieces) body.push(Buffer.from(piece));
  body.end(error);
  return body;
}

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}

describe('a body', () => {
  it('is read no faster than its bytes are taken', async () => {
    const { body, state } = endlessBody();
    const reader = new BodyReader(body, Infinity);
    await turns(200);
    expect(state.bytesMade).toBe(64 * 1024);
    expect(reader.take()?.length).toBe(64 * 1024);
    await turns(200);
    expect(state.bytesMade).toBe(128 * 1024);
    reader.destroy();
  });

  it('that is too large is cut off', async () => {
    const { body, state } = endlessBody();
    await expect(new BodyReader(body, 100_000).readAll()).rejects.toThrow(/larger than 100000 bytes/);
    expect(state.isAborted).toBe(true);
  });

  it('that never ends after what mattered is cut off', async () => {
    const { body, state } = endlessBody();
    await new BodyReader(body, Infinity).drain();
    expect(state.isAborted).toBe(true);
    expect(state.bytesMade).toBeLessThan(100_000);
  });

  it('gives its bytes, its end and its error', async () => {
    expect((await new BodyReader(bodyOf(['ab', 'c']), 3).readAll()).toString()).toBe('abc');
    const failing = bodyOf(['a'], new Error('reset'));
    await expect(new BodyReader(failing, 3).readAll()).rejects.toThrow('reset');
    await expect(new BodyReader(failing, 3).readAll()).rejects.toThrow('reset');
  });
});
