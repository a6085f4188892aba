import { describe, expect, test } from 'vitest';
import { runCondition } from './condition.ts';
import { fakeStep, stepFailure } from './fake-step.ts';

const STEP = fakeStep({
  triggerData: { text: '你好', n: 5, half: 2.5, list: [1, 2, 3], nothing: null, zone: 'Asia/Shanghai' },
  results: new Map<string, unknown>([
    ['a', { count: 4, ids: [1, 2, 3], items: [{ price: 10, name: 'x' }] }],
    ['odd-id', 'ok'],
    ['steps', 'shadowed'],
    ['type', 'a name of CEL'],
    ['constructor', 'a name of JavaScript'],
    ['__proto__', { isAdmin: true }],
  ]),
});

const evaluate = (expression: string, step = STEP): Promise<unknown> => runCondition({ expression }, step);

test('an operator decides', async () => {
  expect(await runCondition({ left: 5, operator: '>', right: '3' }, STEP)).toBe(true);
  expect(await runCondition({ operator: 'exists' }, STEP)).toBe(false);
});

test.each([
  [{}, 'config.operator is missing.'],
  [{ operator: '=~', left: 1 }, 'config.operator must be one of'],
  [{ expression: 'true', operator: '==' }, 'both an operator and an expression'],
  [{ expression: 5 }, 'config.expression must be a text'],
  [{ expression: '' }, 'config.expression must be a text'],
])('%j fails', async (config, message) => {
  expect((await stepFailure(runCondition(config, STEP))).message).toContain(message);
});

describe('expressions', () => {
  test.each([
    ['steps.a.result.count > 3', true],
    ['a.result.count == 4', true],
    ['a.result.count + 1 == 5', true],
    ['a.result.count % 2 == 0', true],
    ['10 / a.result.count > 2', true],
    ['trigger.data.half * 2 == trigger.data.n', true],
    ['trigger.data.text == "你好"', true],
    ['trigger.data.text.contains("好") && size(trigger.data.text) == 2', true],
    ['trigger.data.nothing == null', true],
    ['trigger.data.list[0] == 1', true],
    ['2 in steps.a.result.ids', true],
    ['"price" in a.result.items[0]', true],
    ['a.result.items.exists(item, item.price >= 10 && item.name.startsWith("x"))', true],
    ['a.result.ids.all(id, trigger.data.list.exists(n, n == id))', true],
    ['a.result.ids.map(id, id * 2).filter(id, id > 2).size() == 2', true],
    ['has(steps.a.result.missing)', false],
    ['!has(steps.a) || steps["odd-id"].result == "ok"', true],
    ['steps.steps.result == "shadowed" && steps.type.result != ""', true],
    ['steps["__proto__"].result.isAdmin', true],
    ['"room 101".matches("[0-9]{3}$")', true],
    ['timestamp("2026-01-02T00:00:00Z") - timestamp("2026-01-01T00:00:00Z") > duration("1h")', true],
    ['trigger.data.n > 3 ? trigger.data.n < 10 : false', true],
  ])('%s', async (expression, outcome) => {
    expect(await evaluate(expression)).toBe(outcome);
  });

  test.each([
    ['1 +', 'The expression cannot be read at character 4: Unexpected token: EOF.'],
    ['steps.b.result > 1', 'The expression failed: No such key: b.'],
    ['later.result > 1', 'The expression failed: Unknown variable: later.'],
    ['trigger.data.missing == 1', 'The expression failed: No such key: missing.'],
    ['trigger.data.text > 5', 'The expression failed: no such overload: dyn<string> > int.'],
    ['trigger.data.list.contains(1)', "no matching overload for 'list.contains(int)'"],
    ['trigger.data.n', 'must come to true or false'],
    ['"true"', 'must come to true or false'],
    ['fetch("http://x")', 'The expression calls fetch, which there is not'],
    ['"a".matches("(?=a)")', 'a pattern that RE2 does not read'],
    ['timestamp("2026-01-02T00:00:00Z").getHours("Nowhere/Land") > 1', 'The expression failed'],
  ])('%s fails', async (expression, message) => {
    expect((await stepFailure(evaluate(expression))).message).toContain(message);
  });
});

describe('nothing but data is reached', () => {
  test.each([
    ['trigger.constructor.constructor("return process")()'],
    ['trigger.data.constructor == null'],
    ['trigger["constructor"]["constructor"] != null'],
    ['trigger.__proto__ != null'],
    ['trigger.data["__proto__"] != null'],
    ['"".constructor.fromCharCode(65) == "A"'],
    ['trigger.data.list.constructor != null'],
    ['trigger.data.list["length"] == 3'],
    ['"a".__proto__.constructor.constructor("return 1")() == 1'],
    ['process.mainModule.require("child_process").execSync("id") != ""'],
    // The published escape of n8n (CVE-2025-68613).
    ['(function(){ return this.process.mainModule.require("child_process").execSync("id").toString() })()'],
    ['this.process.env != null'],
    ['globalThis != null'],
    ['constructor.constructor("return this")() != null'],
    ['toString() == ""'],
    ['hasOwnProperty("a")'],
    ['{{trigger.data.n}} > 3'],
    ['`${trigger}` == ""'],
    ['[].map(x, x).constructor != null'],
    ['cel.bind(x, trigger, x.constructor != null)'],
    ['trigger.data.text.containsSafely("a")'],
    ['b"x".json() != null'],
    ['google.protobuf.Timestamp.constructor != null'],
    ['import("fs") != null'],
  ])('%s', async (expression) => {
    expect((await stepFailure(evaluate(expression))).message).toMatch(/^The expression /);
  });
});

describe('time and memory are bounded', () => {
  const LARGE = fakeStep({
    triggerData: { list: Array.from({ length: 500_000 }, (_, i) => i), text: 'ab'.repeat(1_000_000) },
  });

  test.each([
    ['trigger.data.list.all(x, trigger.data.list.all(y, y >= 0))', 'takes too long'],
    ['size(trigger.data.list.map(x, trigger.data.list + trigger.data.list)) > 0', 'takes too long'],
    ['trigger.data.list.all(x, trigger.data.text.contains(trigger.data.text + string(x)) == false)', 'takes too long'],
    ['trigger.data.list.all(x, trigger.data.list.all(y, [1].all(z, true)))', 'nests loops'],
    [`${Array.from({ length: 30 }, () => 'trigger.data.text').join(' + ')} == ""`, 'more than 20 additions'],
    [`${'('.repeat(100)}true${')'.repeat(100)}`, 'cannot be read'],
    [`${'!'.repeat(3000)}true`, 'cannot be read'],
    [`true${' || true'.repeat(1000)}`, 'longer than 4000 characters'],
    ['trigger.data.text.matches("((a{100}){100}){10}")', 'a pattern that'],
    ['size(trigger.data.text.split("")) > 1', 'The expression calls split'],
    ['duration(trigger.data.text) > duration("1h")', 'only with a literal'],
  ])('%s', async (expression, message) => {
    expect((await stepFailure(evaluate(expression, LARGE))).message).toContain(message);
  });

  test('a pattern that lets other engines go back and forth is linear', async () => {
    const step = fakeStep({ triggerData: { text: `${'a'.repeat(50)}!` } });
    expect(await evaluate('trigger.data.text.matches("^(a+)+$")', step)).toBe(false);
  });

  test('an expression works after another one was interrupted', async () => {
    await stepFailure(evaluate('trigger.data.list.all(x, trigger.data.list.all(y, y >= 0))', LARGE));
    expect(await evaluate('size(trigger.data.list) == 500000', LARGE)).toBe(true);
  });
});
