import { firstIdAt } from '../../../platform/ids/index.ts';

const DAY_MS = 86_400_000;
/** Slices that the days of history are cut into: more would make every statement that may touch all of them slower. */
const SLICES = 10;
/** Slices are there this many days before their first run. */
const DAYS_AHEAD = 3;
const NAME = /^(\d{4})(\d{2})(\d{2})_(\d{4})(\d{2})(\d{2})$/;

/** Whole UTC days whose runs lie together: from the first one, and up to but without the other. In Unix milliseconds. */
export interface Slice {
  fromMs: number;
  toMs: number;
}

function dayText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10).replaceAll('-', '');
}

/** What the names of a slice's tables end in: 20260131_20260203. */
export function sliceSuffix({ fromMs, toMs }: Slice): string {
  return `${dayText(fromMs)}_${dayText(toMs)}`;
}

/** The slice that a table's name ends in; undefined when it is none. */
export function sliceOf(suffix: string): Slice | undefined {
  const [, y1, m1, d1, y2, m2, d2] = NAME.exec(suffix) ?? [];
  const [fromMs, toMs] = [Date.parse(`${y1}-${m1}-${d1}`), Date.parse(`${y2}-${m2}-${d2}`)];
  return Number.isNaN(fromMs) || Number.isNaN(toMs) ? undefined : { fromMs, toMs };
}

/** What the ids of all runs made from this moment on are behind. */
export function firstRunId(ms: number): string {
  return firstIdAt('run', ms);
}

/**
 * The slices to make: beginning where the last one ends, or with today, until three days ahead are covered. `freeFromMs`
 * is a moment behind all that lies outside of slices.
 */
export function missingSlices(
  existing: readonly Slice[],
  { nowMs, freeFromMs, historyDays }: { nowMs: number; freeFromMs: number; historyDays: number },
): Slice[] {
  const lengthMs = Math.ceil(historyDays / SLICES) * DAY_MS;
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const missing: Slice[] = [];
  const untilMs = today + (DAYS_AHEAD + 1) * DAY_MS;
  let fromMs = Math.max(today, Math.ceil(freeFromMs / DAY_MS) * DAY_MS, ...existing.map(({ toMs }) => toMs));
  for (; fromMs < untilMs; fromMs += lengthMs) missing.push({ fromMs, toMs: fromMs + lengthMs });
  return missing;
}
