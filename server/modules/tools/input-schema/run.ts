/** Units of work that one validation may cost; a unit is at most about 30 ns, so a validation at most about 150 ms. */
const FUEL = 4_000_000;

/** How many schemas may be applied inside each other: input depth times the longest chain of references. */
const MAX_DEPTH = 400;

/** Complaints that are worth reading at once. */
const MAX_ISSUES = 5;

/** A validation was given up because it would have cost too much. */
export class TooCostly extends Error {}

/** Where in the input a check stands. Linked, so that descending costs one small object and no text. */
export interface Place {
  parent: Place | undefined;
  key: string | number;
}

/** One validation under way: what it may still spend, and what it found wrong. */
export class Run {
  readonly issues: { place: Place | undefined; complaint: string }[] = [];
  #fuel: number;
  #depth = 0;

  constructor(fuel: number = FUEL) {
    this.#fuel = fuel;
  }

  /** Units that are left. */
  get fuel(): number {
    return this.#fuel;
  }

  /** Pays for work before it is done; throws TooCostly when nothing is left. */
  spend(units: number): void {
    this.#fuel -= units;
    if (this.#fuel < 0) throw new TooCostly('the input is too large for its schema, or the schema too intricate');
  }

  enter(): void {
    if (++this.#depth > MAX_DEPTH) throw new TooCostly('the schema refers to itself too often inside itself');
  }

  leave(): void {
    this.#depth--;
  }

  get isFull(): boolean {
    return this.issues.length >= MAX_ISSUES;
  }
}

/** Which properties and items the schemas applied to one value have looked at; what `unevaluated…` is about. */
export class Seen {
  hasAllProperties = false;
  hasAllItems = false;
  readonly properties = new Set<string>();
  readonly items = new Set<number>();

  add(other: Seen): void {
    this.hasAllProperties ||= other.hasAllProperties;
    this.hasAllItems ||= other.hasAllItems;
    for (const name of other.properties) this.properties.add(name);
    for (const index of other.items) this.items.add(index);
  }
}

/** One application of a schema to a value. */
export interface Visit {
  run: Run;
  place: Place | undefined;
  /** True where a mismatch is not an error yet: in the branches of anyOf, oneOf, not, if and contains. */
  isSilent: boolean;
  /** Kept only where some schema asks for what is left over. */
  seen: Seen | undefined;
}

/** Tells whether the value passes; reports why not unless the visit is silent. */
export type Check = (value: unknown, visit: Visit) => boolean;

/** Reports a mismatch: `complaint` continues a sentence that begins with the name of the field. Always false. */
export function mismatch(visit: Visit, complaint: string): false {
  if (!visit.isSilent && !visit.run.isFull) visit.run.issues.push({ place: visit.place, complaint });
  return false;
}

/** The visit of a property or item of the value at hand. */
export function inside(visit: Visit, key: string | number): Visit {
  return { run: visit.run, place: { parent: visit.place, key }, isSilent: visit.isSilent, seen: undefined };
}

/** A visit of the same value whose outcome alone counts. What it sees is kept apart until it is known to pass. */
export function silently(visit: Visit): Visit {
  return { ...visit, isSilent: true, seen: visit.seen && new Seen() };
}
