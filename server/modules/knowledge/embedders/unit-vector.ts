/**
 * Scales a vector to length 1, in place. Null for a vector without a direction: one of zeros, or with a number that is
 * not finite.
 */
export function unitVector(vector: Float32Array): Float32Array | null {
  let squares = 0;
  for (const value of vector) squares += value * value;
  if (!(squares > 0) || !Number.isFinite(squares)) return null;
  const factor = 1 / Math.sqrt(squares);
  for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] ?? 0) * factor;
  return vector;
}
