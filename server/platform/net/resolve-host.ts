import { isIP } from 'node:net';
import type { AddressPolicy } from './address-policy.ts';
import { plainHostname } from './allow-list.ts';
import { OutboundError } from './outbound-error.ts';

export interface ResolvedAddress {
  address: string;
  family: number;
}

/** Every address of a name. */
export type Lookup = (hostname: string) => Promise<ResolvedAddress[]>;

/**
 * The addresses that a host stands for, each of them allowed: one bad answer among good ones refuses the host.
 * Resolved once; the caller dials these and asks nobody again. A literal address stands for itself.
 */
export async function resolveHost(
  hostname: string,
  { lookup, policy }: { lookup: Lookup; policy: AddressPolicy },
): Promise<ResolvedAddress[]> {
  const host = plainHostname(hostname);
  const family = isIP(host);
  const addresses = family === 0 ? await lookUp(host, lookup) : [{ address: host, family }];
  for (const { address } of addresses) policy.demandAddress(address, host);
  return addresses;
}

async function lookUp(host: string, lookup: Lookup): Promise<ResolvedAddress[]> {
  const addresses = await lookup(host).catch((error: unknown) => {
    throw new OutboundError('unreachable', `The host ${host} could not be found.`, { cause: error });
  });
  if (addresses.length === 0) throw new OutboundError('unreachable', `The host ${host} has no address.`);
  return addresses;
}
