/** Shorter ones are words that also mean themselves. */
const MIN_LENGTH = 8;

/** Takes texts out of what is told of a call: the secrets that were sent with it, wherever the answer repeats them. */
export function redactor(secrets: readonly string[]): (value: unknown) => unknown {
  const parts = secrets.flatMap((secret) => [secret, ...secret.split(/[\s,;=]+/)]);
  // As addresses carry them.
  const encoded = parts.map((part) => encodeURIComponent(part.toWellFormed()));
  const hidden = [...new Set([...parts, ...encoded])]
    .filter(({ length }) => length >= MIN_LENGTH)
    .toSorted((a, b) => b.length - a.length);
  const redactText = (text: string): string => hidden.reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
  const redact = (value: unknown): unknown => {
    if (typeof value === 'string') return redactText(value);
    if (Array.isArray(value)) return value.map(redact);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [redactText(key), redact(member)]));
  };
  return hidden.length === 0 ? (value) => value : redact;
}
