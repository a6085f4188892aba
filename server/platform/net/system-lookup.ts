import { lookup as dnsLookup } from 'node:dns/promises';
import type { Lookup, ResolvedAddress } from './resolve-host.ts';

/** How long an answer serves others. It is checked anew each time, and the checked addresses are the ones dialled. */
const KEPT_MS = 2000;
const MAX_KEPT = 1000;

/**
 * Asks for a name once for all who want it at the same time or soon after: the system's resolver works on a few
 * threads, which a name whose servers do not answer would otherwise occupy all of.
 */
export function sharedLookup(lookup: Lookup): Lookup {
  const answers = new Map<string, Promise<ResolvedAddress[]>>();
  return (hostname) => {
    const known = answers.get(hostname);
    if (known) return known;
    const answer = lookup(hostname);
    const forget = (): void => {
      if (answers.get(hostname) === answer) answers.delete(hostname);
    };
    answers.set(hostname, answer);
    answer.then(() => setTimeout(forget, KEPT_MS).unref(), forget);
    if (answers.size > MAX_KEPT) answers.delete(answers.keys().next().value ?? '');
    return answer;
  };
}

export const systemLookup: Lookup = sharedLookup((hostname) => dnsLookup(hostname, { all: true }));
