import { containsText } from './contains-text.ts';
import { StepError } from './node-type.ts';

type Comparison = (left: unknown, right: unknown) => boolean;

const NUMERIC = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,4})?\s*$/i;
/** Longer texts are no numbers that anybody compares. */
const MAX_NUMERIC_LENGTH = 100;

/** The number that a value is or, as a text, spells. */
function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value.length > MAX_NUMERIC_LENGTH || !NUMERIC.test(value)) return undefined;
  return Number(value);
}

/** Both as numbers, when one of them is a number and the other one or the text of one. */
function numbersOf(left: unknown, right: unknown): [number, number] | undefined {
  if (typeof left !== 'number' && typeof right !== 'number') return undefined;
  const [a, b] = [numberOf(left), numberOf(right)];
  return a === undefined || b === undefined ? undefined : [a, b];
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isDeeplyEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (!isObject(left) || !isObject(right) || Array.isArray(left) !== Array.isArray(right)) return false;
  const entries = Object.entries(left);
  return (
    entries.length === Object.keys(right).length &&
    entries.every(([key, value]) => Object.hasOwn(right, key) && isDeeplyEqual(value, Reflect.get(right, key)))
  );
}

function isEqual(left: unknown, right: unknown): boolean {
  const numbers = numbersOf(left, right);
  return numbers ? numbers[0] === numbers[1] : isDeeplyEqual(left ?? null, right ?? null);
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return 'nothing (null)';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  return typeof value === 'string' ? 'a text' : `a ${typeof value}`;
}

/** Below, above or at 0 as `left` comes before, after or together with `right`. */
function order(left: unknown, right: unknown): number {
  const numbers = numbersOf(left, right);
  if (numbers) return numbers[0] - numbers[1];
  if (typeof left === 'string' && typeof right === 'string') {
    if (left === right) return 0;
    return left < right ? -1 : 1;
  }
  const kinds = `${kindOf(left)} and ${kindOf(right)}`;
  throw new StepError(`There is no order between ${kinds}: only two numbers or two texts have one.`);
}

function refuse(operator: string, left: unknown, right: unknown): never {
  throw new StepError(
    `The operator ${operator} is not for ${kindOf(left)} on the left, ${kindOf(right)} on the right.`,
  );
}

/** Whether a list has an item, a text a part, or an object a key. */
function holds(whole: unknown, part: unknown): boolean | undefined {
  if (Array.isArray(whole)) return whole.some((item) => isEqual(item, part));
  if (typeof part !== 'string' && typeof part !== 'number') return undefined;
  if (typeof whole === 'string') return containsText(whole, String(part));
  return isObject(whole) ? Object.hasOwn(whole, part) : undefined;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** `startsWith` and `endsWith`; a number is taken as the text of it. */
function affix(operator: string, matches: (text: string, part: string) => boolean): Comparison {
  return (left, right) => {
    const texts = [left, right].map((value) => (typeof value === 'number' ? String(value) : value));
    const [text, part] = texts;
    return typeof text === 'string' && typeof part === 'string' ? matches(text, part) : refuse(operator, left, right);
  };
}

const equals: Comparison = isEqual;
const differs: Comparison = (left, right) => !isEqual(left, right);
const isAbove: Comparison = (left, right) => order(left, right) > 0;
const isAtLeast: Comparison = (left, right) => order(left, right) >= 0;
const isBelow: Comparison = (left, right) => order(left, right) < 0;
const isAtMost: Comparison = (left, right) => order(left, right) <= 0;

const OPERATORS = new Map<string, Comparison>([
  ['==', equals],
  ['!=', differs],
  ['>', isAbove],
  ['>=', isAtLeast],
  ['<', isBelow],
  ['<=', isAtMost],
  ['contains', (left, right) => holds(left, right) ?? refuse('contains', left, right)],
  ['startsWith', affix('startsWith', (text, part) => text.startsWith(part))],
  ['endsWith', affix('endsWith', (text, part) => text.endsWith(part))],
  ['in', (left, right) => holds(right, left) ?? refuse('in', left, right)],
  ['exists', (left) => left !== undefined && left !== null],
  ['empty', isEmpty],
  ['eq', equals],
  ['ne', differs],
  ['gt', isAbove],
  ['gte', isAtLeast],
  ['lt', isBelow],
  ['lte', isAtMost],
]);

/** Throws StepError for an operator that is none. */
export function demandOperator(operator: string): Comparison {
  const comparison = OPERATORS.get(operator);
  if (comparison) return comparison;
  throw new StepError(`config.operator must be one of ${[...OPERATORS.keys()].join(', ')}.`);
}

/**
 * Compares two JSON values. A number and a text that spells one compare as numbers; two texts are ordered by code unit;
 * objects and lists are equal when all they hold is. Throws StepError for an operator that is none, or not for such
 * values.
 */
export function compare(left: unknown, operator: string, right: unknown): boolean {
  return demandOperator(operator)(left, right);
}
