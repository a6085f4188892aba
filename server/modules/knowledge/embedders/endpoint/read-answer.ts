import { unitVector } from '../unit-vector.ts';

/** The words for an answer that is not what was asked for. */
const NOT_VECTORS = 'The embedding server did not answer with a list of vectors';

/**
 * The vectors of an answer of OpenAI's embeddings API, in the order of the texts, at unit length; null for a vector of
 * zeros. Throws an Error that says what is wrong with the answer.
 */
export function readAnswer(body: string, count: number): (Float32Array | null)[] {
  const entries = entriesOf(body);
  if (entries.length !== count) {
    throw new Error(`The embedding server answered ${entries.length} vectors for ${count} texts.`);
  }
  const vectors: (Float32Array | null | undefined)[] = Array.from({ length: count });
  for (const [position, entry] of entries.entries()) {
    const { index, numbers } = partsOf(entry, position);
    if (!Number.isInteger(index) || index < 0 || index >= count || vectors[index] !== undefined) {
      throw new Error(`The embedding server gave a vector the index ${index}, of ${count} texts.`);
    }
    vectors[index] = unitVector(asVector(numbers));
  }
  return vectors.map((vector) => vector ?? null);
}

function entriesOf(body: string): unknown[] {
  const answer = parsed(body);
  if (typeof answer === 'object' && answer !== null && 'data' in answer && Array.isArray(answer.data)) {
    return answer.data;
  }
  throw new Error(`${NOT_VECTORS}: "data" is missing.`);
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new Error(`${NOT_VECTORS}: it is not JSON.`);
  }
}

/** Servers that leave the index out answer in the order of the texts. */
function partsOf(entry: unknown, position: number): { index: number; numbers: unknown[] } {
  if (typeof entry !== 'object' || entry === null || !('embedding' in entry) || !Array.isArray(entry.embedding)) {
    throw new Error(`${NOT_VECTORS}: "data[${position}].embedding" is not a list of numbers.`);
  }
  const index = 'index' in entry && entry.index !== null ? entry.index : position;
  return { index: typeof index === 'number' ? index : Number.NaN, numbers: entry.embedding };
}

function asVector(numbers: unknown[]): Float32Array {
  if (numbers.length === 0) throw new Error('The embedding server answered a vector without numbers.');
  const vector = new Float32Array(numbers.length);
  for (let i = 0; i < numbers.length; i++) {
    const value = numbers[i];
    // What float32 cannot hold would become infinite.
    if (typeof value !== 'number' || !Number.isFinite(Math.fround(value))) {
      throw new Error('The embedding server answered a vector with something that is not a number.');
    }
    vector[i] = value;
  }
  return vector;
}
