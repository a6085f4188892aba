import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { AnswerWatch } from './answer-watch.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('an answer that stays out is noticed within 300 ms', () => {
  const onLate = vi.fn<() => void>();
  const watch = new AnswerWatch(onLate);
  watch.ask();
  vi.advanceTimersByTime(199);
  expect(onLate).not.toHaveBeenCalled();
  vi.advanceTimersByTime(101);
  expect(onLate).toHaveBeenCalledOnce();
});

test('answers that come in time are never late, however many follow each other', () => {
  const onLate = vi.fn<() => void>();
  const watch = new AnswerWatch(onLate);
  for (let i = 0; i < 100; i++) {
    watch.ask();
    vi.advanceTimersByTime(90);
    watch.ask();
    watch.answer();
    vi.advanceTimersByTime(50);
    watch.answer();
  }
  expect(onLate).not.toHaveBeenCalled();
});

test('it is noticed however much is asked meanwhile', () => {
  const onLate = vi.fn<() => void>();
  const watch = new AnswerWatch(onLate);
  watch.ask();
  for (let i = 0; i < 31; i++) {
    watch.ask();
    vi.advanceTimersByTime(10);
  }
  expect(onLate).toHaveBeenCalled();
});

test('no timer is left when nothing is out', () => {
  const watch = new AnswerWatch(() => undefined);
  watch.ask();
  watch.answer();
  vi.advanceTimersByTime(100);
  expect(vi.getTimerCount()).toBe(0);
});
