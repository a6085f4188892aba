/** A JSON object of a vendor, of which nothing is known yet. */
export type JsonObject = Record<string, unknown>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value if it is an object, otherwise an empty one: reading on then finds nothing, and never throws. */
export function asObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value if it is text, otherwise ''. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The value if it can be a number of tokens. */
export function asCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** The parsed text, or undefined when it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What a model wrote as the input of a tool: text of JSON, or with some vendors the object itself. */
export function readToolInput(written: unknown): { input: JsonObject; invalidInput?: string } {
  if (isJsonObject(written)) return { input: written };
  const text = typeof written === 'string' ? written : JSON.stringify(written ?? '');
  // Models write nothing at all for a tool without parameters.
  if (text.trim() === '') return { input: {} };
  const parsed = parseJson(text);
  return isJsonObject(parsed) ? { input: parsed } : { input: {}, invalidInput: text };
}
