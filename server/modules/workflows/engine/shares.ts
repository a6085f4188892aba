/**
 * Divides the runs that a process works on at once between developers. One may take on more while it has fewer under way
 * than are free: alone it gets half of the places, the next one half of what is left, and so nobody's many or slow runs
 * keep out another's (dynamic thresholds: Choudhury and Hahne, 1998).
 */
export class Shares {
  readonly #capacity: number;
  readonly #active = new Map<string, number>();
  #total = 0;
  /** Developers who may have runs that wait: a new one goes behind those. */
  readonly #behind = new Set<string>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get free(): number {
    return this.#capacity - this.#total;
  }

  /** How many more runs of a developer may begin now. */
  allowance(developerId: string): number {
    return Math.max(0, Math.ceil((this.free - (this.#active.get(developerId) ?? 0)) / 2));
  }

  /** Developers with runs under way, and how many more of each may begin. */
  allowances(): Map<string, number> {
    return new Map([...this.#active.keys()].map((developerId) => [developerId, this.allowance(developerId)]));
  }

  begin(developerId: string): void {
    this.#total++;
    this.#active.set(developerId, (this.#active.get(developerId) ?? 0) + 1);
  }

  end(developerId: string): void {
    this.#total--;
    const left = (this.#active.get(developerId) ?? 0) - 1;
    if (left > 0) this.#active.set(developerId, left);
    else this.#active.delete(developerId);
  }

  /** Whether a run that comes now may begin at once; if not, it waits with the others of its developer. */
  mayBegin(developerId: string): boolean {
    if (!this.#behind.has(developerId) && this.allowance(developerId) > 0) return true;
    this.#behind.add(developerId);
    return false;
  }

  get isAnyoneBehind(): boolean {
    return this.#behind.size > 0;
  }

  /** Whether somebody who may have runs that wait could begin one. */
  get isAnyoneDue(): boolean {
    return [...this.#behind].some((developerId) => this.allowance(developerId) > 0);
  }

  /** After a look that found as many runs as it may: these developers may have more, and others as before. */
  addBehind(developerIds: Iterable<string>): void {
    for (const developerId of developerIds) this.#behind.add(developerId);
  }

  /** After a look at all runs that wait: only these developers, and those who could be given nothing, have more. */
  noteBehind(developerIds: ReadonlySet<string>): void {
    for (const developerId of this.#behind) {
      if (this.allowance(developerId) > 0) this.#behind.delete(developerId);
    }
    this.addBehind(developerIds);
  }
}
