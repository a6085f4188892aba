/** A list of numbers that grows. */
abstract class Column<A extends { length: number }> {
  values: A;
  length = 0;

  constructor(values: A) {
    this.values = values;
  }

  protected abstract grown(capacity: number): A;

  /** Makes room for so many more. */
  reserve(count: number): void {
    if (this.length + count <= this.values.length) return;
    this.values = this.grown(Math.max(2 * this.values.length, this.length + count, 64));
  }
}

export class Int32Column extends Column<Int32Array> {
  constructor(values: Int32Array = new Int32Array(0)) {
    super(values);
    this.length = values.length;
  }

  protected grown(capacity: number): Int32Array {
    const grown = new Int32Array(capacity);
    grown.set(this.values);
    return grown;
  }

  push(value: number): void {
    this.reserve(1);
    this.values[this.length++] = value;
  }

  get used(): Int32Array {
    return this.values.subarray(0, this.length);
  }
}

export class Float64Column extends Column<Float64Array> {
  constructor(values: Float64Array = new Float64Array(0)) {
    super(values);
    this.length = values.length;
  }

  protected grown(capacity: number): Float64Array {
    const grown = new Float64Array(capacity);
    grown.set(this.values);
    return grown;
  }

  push(value: number): void {
    this.reserve(1);
    this.values[this.length++] = value;
  }

  get used(): Float64Array {
    return this.values.subarray(0, this.length);
  }
}
