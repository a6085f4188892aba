/** Sizes and counts that the HTTP contract promises to accept, and not more. */
export const LIMITS = {
  /** Bytes of a request body. */
  bodyBytes: 10 * 1024 * 1024,
  /** Levels of objects and arrays inside each other in a request body. */
  jsonDepth: 100,
  /** Characters of a name or an id that a caller chooses. */
  nameLength: 128,
  /** Characters of a description, knowledge hint and the like. */
  descriptionLength: 20_000,
} as const;
