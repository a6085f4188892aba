import type { Block } from './blocks.ts';
import type { Chunk } from './chunk.ts';
import { costOf, MOST_COST, OVERLAP_COST } from './cost.ts';
import { tableHeadOf, unitsOf, wholeUnit, type Unit } from './units.ts';

/** A chunk that is filled to this share ends rather than to tear the next block apart. */
const WELL_FILLED = MOST_COST / 2;
/** Steps of a manual stay together up to this. */
const MOST_STEPS_COST = 3 * MOST_COST;

/** Fills chunks with the units of one section. */
export class Packer {
  readonly #content: string;
  readonly #keepsSteps: boolean;
  #units: Unit[] = [];
  #cost = 0;
  /** Units at the front that the chunk before ends with. */
  #repeated = 0;
  heading = '';
  /** What the chunks after the first have as heading. */
  laterHeading: string | undefined;
  /** The head of the table that is being taken in, and of the one that the chunk begins in: it names what rows hold. */
  #tableHead = '';
  #innerHead = '';

  constructor(content: string, options: { keepsSteps: boolean }) {
    this.#content = content;
    this.#keepsSteps = options.keepsSteps;
  }

  get isEmpty(): boolean {
    return this.#units.length === this.#repeated;
  }

  /** Takes in a block; gives the chunks that are full, and undefined now and then. */
  *add(block: Block): Generator<Chunk | undefined> {
    const steps = this.#keepsSteps && block.kind === 'steps';
    const whole = steps ? wholeUnit(this.#content, block, MOST_STEPS_COST) : undefined;
    if (whole) {
      yield* this.#addUnit(whole);
      return;
    }
    if (this.#cost >= WELL_FILLED && this.#cost + costOf(this.#content, block, MOST_COST) > MOST_COST) {
      yield* this.#end({ isGoingOn: true });
    }
    this.#tableHead = tableHeadOf(this.#content, block);
    for (const unit of unitsOf(this.#content, block)) {
      if (unit) yield* this.#addUnit(unit);
      else yield undefined;
    }
    this.#tableHead = '';
  }

  *#addUnit(unit: Unit): Generator<Chunk> {
    if (!this.isEmpty && this.#costWith(unit) > MOST_COST) yield* this.#end({ isGoingOn: true });
    if (this.isEmpty && this.#costWith(unit) > MOST_COST) this.#clear();
    this.#cost = this.#costWith(unit);
    this.#units.push(unit);
  }

  /** Ends the section. */
  *flush(): Generator<Chunk> {
    yield* this.#end({ isGoingOn: false });
    this.laterHeading = undefined;
  }

  #costWith({ start, cost }: Unit): number {
    const last = this.#units.at(-1);
    return last ? this.#cost + (start - last.end) + cost : cost;
  }

  #clear(): void {
    this.#units = [];
    this.#cost = 0;
    this.#repeated = 0;
  }

  *#end({ isGoingOn }: { isGoingOn: boolean }): Generator<Chunk> {
    const first = this.#units[0];
    const last = this.#units.at(-1);
    if (first && last && !this.isEmpty) {
      const heading = [this.heading, this.#innerHead].filter((part) => part !== '').join('\n');
      yield { start: first.start, end: last.end, heading };
      this.heading = this.laterHeading ?? this.heading;
    }
    this.#innerHead = isGoingOn ? this.#tableHead : '';
    const tail = isGoingOn ? this.#tail() : [];
    this.#clear();
    for (const unit of tail) {
      this.#cost = this.#costWith(unit);
      this.#units.push(unit);
    }
    this.#repeated = tail.length;
  }

  /** The last units that are short enough together to be repeated. */
  #tail(): Unit[] {
    const end = this.#units.at(-1)?.end ?? 0;
    const tail: Unit[] = [];
    for (const unit of this.#units.slice(1).toReversed()) {
      if (costOf(this.#content, { start: unit.start, end }, OVERLAP_COST + 1) > OVERLAP_COST) break;
      tail.unshift(unit);
    }
    return tail;
  }
}
