import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { testDataFile } from '../../../testing/test-data.ts';
import { nextTick, scheduleProblem } from './next-ticks.ts';

interface Line {
  expr: string;
  base: string;
  tz: string;
  next: string[];
}

/** Safe because the lines are of the form that the data's README names. */
function parse(line: string): Line {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return JSON.parse(line) as Line;
}

const file = testDataFile('cron/next-runs.jsonl');
const LINES = file === undefined ? [] : readFileSync(file, 'utf8').trim().split('\n').map(parse);

test.runIf(LINES.length > 0)('ticks are those on which independent implementations agree', () => {
  expect(LINES.length).toBeGreaterThan(100);
  for (const { expr, base, tz, next } of LINES) {
    const ticks: string[] = [];
    let last: Date | null = new Date(base);
    while (last !== null && ticks.length < next.length) {
      last = nextTick({ expression: expr, timezone: tz }, last);
      if (last) ticks.push(last.toISOString().replace('.000Z', 'Z'));
    }
    expect({ expr, base, tz, next: ticks }).toEqual({ expr, base, tz, next });
  }
});

test.each([
  ['* * * * *', 'UTC'],
  ['*/10 * * * * *', 'Asia/Shanghai'],
])('the schedule %s in %s can be used', (expression, timezone) => {
  expect(scheduleProblem({ expression, timezone })).toBeUndefined();
});

test.each([
  ['* * * *', 'UTC', 'needs five or six fields'],
  ['61 * * * *', 'UTC', 'is not a cron expression'],
  ['0 0 31 2 *', 'UTC', 'never comes due'],
  ['* * * * *', 'Mars/Olympus', 'is not a time zone'],
  ['2026-01-01T00:00:00', 'UTC', 'needs five or six fields'],
])('the schedule %s in %s cannot', (expression, timezone, problem) => {
  expect(scheduleProblem({ expression, timezone })).toContain(problem);
});
