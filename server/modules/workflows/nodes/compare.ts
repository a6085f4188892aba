import { isDeepStrictEqual } from 'node:util';
import { StepError } from './node-type.ts';

type Compare = (left: unknown, right: unknown) => boolean;

/** The number that a value is or spells; undefined when it is none. */
function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value)) ? Number(value) : undefined;
}

/** Equal as JSON; a number also equals the text that spells it. */
function isEqual(left: unknown, right: unknown): boolean {
  if (typeof left === 'number' || typeof right === 'number') {
    const [a, b] = [numberOf(left), numberOf(right)];
    if (a !== undefined && b !== undefined) return a === b;
  }
  return isDeepStrictEqual(left ?? null, right ?? null);
}

/** Below 0, 0 or above 0. Throws StepError for what has no order. */
function order(left: unknown, right: unknown): number {
  const [a, b] = [numberOf(left), numberOf(right)];
  if (a !== undefined && b !== undefined) return a - b;
  if (typeof left === 'string' && typeof right === 'string') return left < right ? -1 : Number(left > right);
  throw new StepError(`${kindOf(left)} and ${kindOf(right)} cannot be put in order: only numbers or texts can.`);
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}

function contains(left: unknown, right: unknown): boolean {
  if (Array.isArray(left)) return left.some((item) => isEqual(item, right));
  if (typeof left === 'string') return left.includes(String(right));
  if (typeof left === 'object' && left !== null) return Object.hasOwn(left, String(right));
  return false;
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

const equal: Compare = isEqual;
const notEqual: Compare = (left, right) => !isEqual(left, right);
const greater: Compare = (left, right) => order(left, right) > 0;
const notLess: Compare = (left, right) => order(left, right) >= 0;
const less: Compare = (left, right) => order(left, right) < 0;
const notGreater: Compare = (left, right) => order(left, right) <= 0;

const OPERATORS = new Map<string, Compare>([
  ['==', equal],
  ['!=', notEqual],
  ['>', greater],
  ['>=', notLess],
  ['<', less],
  ['<=', notGreater],
  ['eq', equal],
  ['ne', notEqual],
  ['gt', greater],
  ['gte', notLess],
  ['lt', less],
  ['lte', notGreater],
  ['contains', contains],
  ['startsWith', (left, right) => typeof left === 'string' && left.startsWith(String(right))],
  ['endsWith', (left, right) => typeof left === 'string' && left.endsWith(String(right))],
  ['in', (left, right) => contains(right, left)],
  ['exists', (left) => left !== null && left !== undefined],
  ['empty', isEmpty],
]);

/** Whether `left operator right` holds. Throws StepError for an unknown operator and for what cannot be compared. */
export function compare(left: unknown, operator: string, right: unknown): boolean {
  const holds = OPERATORS.get(operator);
  if (!holds) {
    throw new StepError(`config.operator "${operator}" is none of ${[...OPERATORS.keys()].join(', ')}.`);
  }
  return holds(left, right);
}
