import type { Cell } from './cell-kind.ts';

/** Different values that are told apart and counted; beyond it only that there are more is known. */
const MAX_DISTINCT = 10_000;
/** A column of few values is described by the most common ones. */
const MAX_LISTED_OF = 50;
const LISTED_VALUES = 5;
const MAX_SHOWN_LENGTH = 60;

type Kind = Exclude<Cell['kind'], 'missing'>;
type Ordered = number | bigint | string;

function shown(text: string): string {
  return JSON.stringify(text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text);
}

/** Figures of one column, taken in cell by cell. */
export class ColumnProfile {
  readonly #kinds = new Map<Kind, number>();
  readonly #distinct = new Map<string, { value: Ordered; count: number }>();
  #hasMoreDistinct = false;
  #present = 0;
  #numbers = 0;
  #mean = 0;
  #min: number | bigint | undefined;
  #max: number | bigint | undefined;
  #first: string | undefined;
  #last: string | undefined;

  add(cell: Cell): void {
    if (cell.kind === 'missing') return;
    this.#present++;
    this.#kinds.set(cell.kind, (this.#kinds.get(cell.kind) ?? 0) + 1);
    if (cell.kind === 'nested') return;
    this.#countDistinct(cell.key, cell.value);
    if (typeof cell.value !== 'string') this.#addNumber(cell.value);
    else if (cell.kind === 'date') this.#addDate(cell.value);
  }

  #countDistinct(key: string, value: Ordered): void {
    const known = this.#distinct.get(key);
    if (known) known.count++;
    else if (this.#distinct.size < MAX_DISTINCT) this.#distinct.set(key, { value, count: 1 });
    else this.#hasMoreDistinct = true;
  }

  #addNumber(value: number | bigint): void {
    if (this.#min === undefined || value < this.#min) this.#min = value;
    if (this.#max === undefined || value > this.#max) this.#max = value;
    // A running mean: a sum of large numbers would overflow.
    this.#numbers++;
    this.#mean += Number(value) / this.#numbers - this.#mean / this.#numbers;
  }

  #addDate(value: string): void {
    if (this.#first === undefined || value < this.#first) this.#first = value;
    if (this.#last === undefined || value > this.#last) this.#last = value;
  }

  #type(): string {
    const { size } = this.#kinds;
    if (size === 0) return 'empty';
    const areNumbers = [...this.#kinds.keys()].every((kind) => kind === 'integer' || kind === 'number');
    if (areNumbers) return this.#kinds.has('number') ? 'number' : 'integer';
    if (size === 1) return [...this.#kinds.keys()].join('');
    const parts = Array.from(this.#kinds, ([kind, count]) => `${count} ${kind}`);
    return `mixed (${parts.join(', ')})`;
  }

  #distinctText(): string[] {
    if (this.#distinct.size === 0) return [];
    return [`${this.#hasMoreDistinct ? `over ${MAX_DISTINCT}` : this.#distinct.size} distinct`];
  }

  #commonValues(): string[] {
    const texts = (this.#kinds.get('text') ?? 0) + (this.#kinds.get('boolean') ?? 0);
    if (texts === 0 || this.#distinct.size > MAX_LISTED_OF) return [];
    const common = [...this.#distinct.values()].toSorted((a, b) => b.count - a.count).slice(0, LISTED_VALUES);
    return [`most common ${common.map(({ value, count }) => `${shown(String(value))} ${count}`).join(', ')}`];
  }

  /** One line of text; `rows` is how many the table has. */
  describe(rows: number): string {
    const range =
      this.#numbers === 0 ? [] : [`min ${this.#min}`, `max ${this.#max}`, `mean ${Number(this.#mean.toPrecision(12))}`];
    const dates = this.#first === undefined ? [] : [`from ${this.#first}`, `to ${this.#last}`];
    const counts = [`${this.#present} present`, `${rows - this.#present} missing`, ...this.#distinctText()];
    return [this.#type(), ...counts, ...range, ...dates, ...this.#commonValues()].join('; ');
  }
}
