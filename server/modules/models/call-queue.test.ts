import { describe, expect, it } from 'vitest';
import { CallQueue, type Priority, type Release } from './call-queue.ts';

const never = new AbortController().signal;

/** Lets everything that is already decided happen. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Starts callers who wait, noting the order in which they are let in. */
function waiters(queue: CallQueue, callers: [string, Priority][]) {
  const admitted: string[] = [];
  const releases: Release[] = [];
  for (const [name, priority] of callers) {
    void (async () => {
      const release = await queue.acquire(priority, never);
      releases.push(release);
      admitted.push(name);
    })();
  }
  return { admitted, releases };
}

describe('the call queue', () => {
  it('lets pro and enterprise go first, and keeps the order within a class', async () => {
    const queue = new CallQueue(1);
    const first = await queue.acquire('normal', never);
    const { admitted, releases } = waiters(queue, [
      ['n1', 'normal'],
      ['n2', 'normal'],
      ['h1', 'high'],
      ['h2', 'high'],
    ]);
    expect(queue).toMatchObject({ inFlight: 1, waiting: 4 });
    first();
    for (let i = 0; i < 4; i++) {
      await settle();
      releases[i]?.();
    }
    expect(admitted).toEqual(['h1', 'h2', 'n1', 'n2']);
    expect(queue).toMatchObject({ inFlight: 0, waiting: 0 });
  });

  it('is left by a caller who is aborted, whose place passes on', async () => {
    const queue = new CallQueue(1);
    const first = await queue.acquire('normal', never);
    const controller = new AbortController();
    const leaving = queue.acquire('high', controller.signal);
    const { admitted } = waiters(queue, [['stays', 'normal']]);
    controller.abort(new Error('gone'));
    await expect(leaving).rejects.toThrow('gone');
    first();
    await settle();
    expect(admitted).toEqual(['stays']);
    await expect(queue.acquire('high', controller.signal)).rejects.toThrow('gone');
    expect(queue).toMatchObject({ inFlight: 1, waiting: 0 });
  });

  it('counts a slot that is given back twice once', async () => {
    const queue = new CallQueue(2);
    const [one] = await Promise.all([queue.acquire('normal', never), queue.acquire('normal', never)]);
    one();
    one();
    expect(queue.inFlight).toBe(1);
  });

  it('refuses callers when too many wait', async () => {
    const queue = new CallQueue(1, 1);
    await queue.acquire('normal', never);
    void queue.acquire('normal', never);
    await expect(queue.acquire('high', never)).rejects.toMatchObject({ code: 'UNAVAILABLE', status: 503 });
  });
});
