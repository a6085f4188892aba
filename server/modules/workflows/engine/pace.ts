import { systemClock, type Clock } from '../../../platform/clock/index.ts';

/** The API is in use for this long after a call. */
const IN_USE_MS = 100;
/** Once runs have waited for this long they give way no more: they must not fall behind for ever. */
const PATIENCE_MS = 30_000;

/** How many runs that wait are taken on at most, and how long until the next are. */
export interface Portion {
  most: number;
  pauseMs: number;
}

/** Some thousands a second: statements of this size take PostgreSQL a few milliseconds. */
const FULL: Portion = { most: 64, pauseMs: 10 };
/** 800 a second, in statements of less than a millisecond, which leave half of two processors to calls. */
const GENTLE: Portion = { most: 16, pauseMs: 20 };

/**
 * How fast a process works off runs that wait. As long as its API is called they come in small portions: a call then finds
 * the event loop, and PostgreSQL, free most of the time.
 */
export class Pace {
  readonly #clock: Clock;
  #calledAtMs = -Infinity;
  #waitedMs = 0;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  noteCall(): void {
    this.#calledAtMs = this.#clock.steadyMs();
  }

  /** For how long the run that waited longest had waited when it was taken on. */
  noteWait(waitedMs: number): void {
    this.#waitedMs = waitedMs;
  }

  portion(): Portion {
    const isApiInUse = this.#clock.steadyMs() - this.#calledAtMs < IN_USE_MS;
    return isApiInUse && this.#waitedMs < PATIENCE_MS ? GENTLE : FULL;
  }
}
