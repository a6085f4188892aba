import { mismatch, Seen, type Check, type Visit } from './run.ts';

/** A schema made ready to be applied. Filled after it is made, so that schemas may refer to each other in circles. */
export class SchemaNode {
  readonly checks: Check[] = [];
  /** Run after all others: they are about what the others left over. */
  readonly lastChecks: Check[] = [];

  /** Applies the schema to a value. */
  apply(value: unknown, visit: Visit): boolean {
    const { run } = visit;
    run.spend(1);
    run.enter();
    const isValid =
      this.lastChecks.length === 0 ? runChecks(this.checks, value, visit) : this.#applyWithLast(value, visit);
    run.leave();
    return isValid;
  }

  #applyWithLast(value: unknown, visit: Visit): boolean {
    const seen = new Seen();
    const own = { ...visit, seen };
    const isValid = runChecks(this.checks, value, own) && runChecks(this.lastChecks, value, own);
    visit.run.spend(seen.properties.size + seen.items.size);
    visit.seen?.add(seen);
    return isValid;
  }
}

/** Goes on after a mismatch as long as somebody will read of the next. */
function runChecks(checks: readonly Check[], value: unknown, visit: Visit): boolean {
  let isValid = true;
  for (const check of checks) {
    if (check(value, visit)) continue;
    isValid = false;
    if (visit.isSilent || visit.run.isFull) return false;
  }
  return isValid;
}

/** The schema `false`. */
export const nothing: Check = (_value, visit) => mismatch(visit, 'is not allowed');
