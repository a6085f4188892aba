/** The externalId of a node that was given none: its name, trimmed, runs of white space as `_`; the case stays. */
export function deriveExternalId(name: string): string {
  return name.trim().replace(/\s+/gu, '_');
}
