import type { Run } from './run.ts';

/** Characters that cost about as much as one unit of work elsewhere. */
const CHARACTERS_PER_UNIT = 16;
/** Sorting and joining make a member of an object dearer than an item of an array. */
const UNITS_PER_MEMBER = 6;

/** Text that is equal exactly when two JSON values are: members sorted, numbers as JSON spells them. */
export function canonicalText(value: unknown, run: Run): string {
  run.spend(1);
  if (typeof value === 'string') {
    run.spend(value.length / CHARACTERS_PER_UNIT);
    return JSON.stringify(value);
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map((item) => canonicalText(item, run)).join(',')}]`;
  const members = Object.entries(value);
  run.spend(members.length * UNITS_PER_MEMBER);
  const texts = members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalText(member, run)}`);
  return `{${texts.toSorted().join(',')}}`;
}
