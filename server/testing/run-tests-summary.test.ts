import { describe, expect, it } from 'vitest';
import { countTests, isSuccess, summaryLine } from './run-tests-summary.ts';

const file = (status: string, ...tests: string[]) => ({
  status,
  assertionResults: tests.map((test) => ({ status: test })),
});

describe('the summary of a test run', () => {
  it.each([
    [
      'tests that passed',
      [file('passed', 'passed', 'passed'), file('passed', 'passed')],
      0,
      '3 passed, 0 failed',
      true,
    ],
    ['a failed test', [file('failed', 'passed', 'failed')], 1, '1 passed, 1 failed', false],
    ['a file that did not load', [file('passed', 'passed'), file('failed')], 1, '1 passed, 1 failed', false],
    ['a hook that threw', [file('failed', 'skipped', 'passed')], 1, '1 passed, 1 failed, 1 skipped', false],
    ['an unhandled error', [file('passed', 'passed')], 1, '1 passed, 1 failed', false],
    ['a run that was killed', [file('passed', 'passed')], null, '1 passed, 1 failed', false],
    ['skipped tests', [file('passed', 'passed', 'pending', 'todo')], 0, '1 passed, 0 failed, 2 skipped', true],
    ['nothing but skipped tests', [file('passed', 'skipped')], 0, '0 passed, 0 failed, 1 skipped', false],
  ])('counts %s', (_name, testResults, exitCode, line, success) => {
    const counts = countTests({ testResults }, exitCode);
    expect(summaryLine(counts)).toBe(line);
    expect(isSuccess(counts)).toBe(success);
  });

  it('counts a run that left no report as one failure', () => {
    expect(summaryLine(countTests(undefined, 1))).toBe('0 passed, 1 failed');
  });

  it('is no success when no test ran', () => {
    expect(isSuccess(countTests({ testResults: [] }, 0))).toBe(false);
  });
});
