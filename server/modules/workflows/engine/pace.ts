import { systemClock, type Clock } from '../../../platform/clock/index.ts';

/** The API is in use for this long after a call. */
const IN_USE_MS = 100;
/**
 * Once a run has waited for this long, those that wait give way no more until they are few again: where more of them come
 * than portions hold they would fall behind for ever.
 */
const PATIENCE_MS = 30_000;
const SHORT_WAIT_MS = 1000;

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
  #isUrgent = false;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  noteCall(): void {
    this.#calledAtMs = this.#clock.steadyMs();
  }

  /** For how long the run that waited longest had waited when it was taken on; 0 when none waited. */
  noteWait(waitedMs: number): void {
    if (waitedMs >= PATIENCE_MS) this.#isUrgent = true;
    else if (waitedMs < SHORT_WAIT_MS) this.#isUrgent = false;
  }

  portion(): Portion {
    const isApiInUse = this.#clock.steadyMs() - this.#calledAtMs < IN_USE_MS;
    return isApiInUse && !this.#isUrgent ? GENTLE : FULL;
  }
}
