const waiting: (() => void)[] = [];

function goOn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(goOn);
}

/**
 * Lets requests and answers have their turn. Of all long work that waits here, one piece goes on in each turn of the event
 * loop: many pieces in the same turn would hold it as long as work that is not cut at all.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(goOn);
  });
}

/** Milliseconds of work after which others have a turn. */
const SLICE_MS = 8;

/** Cuts long work by the clock. */
export class Pace {
  #untilMs = performance.now() + SLICE_MS;

  /** Whether it is time to `rest`. */
  get isOver(): boolean {
    return performance.now() >= this.#untilMs;
  }

  /** Lets others have their turn. */
  async rest(): Promise<void> {
    await nextTurn();
    this.#untilMs = performance.now() + SLICE_MS;
  }
}
