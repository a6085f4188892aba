import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Address in a form that no client can choose freely. */
const UNREADABLE = 'unreadable';

/**
 * Whom an address stands for: an IPv4 address for itself, an IPv6 address for its /64, the smallest network that one
 * subscriber gets (RFC 6177), within which it may pick 2^64 addresses.
 */
export function addressGroup(address: string): string {
  if (isIPv4(address)) return address;
  if (!ipaddr.isValid(address)) return UNREADABLE;
  // Also turns ::ffff:192.0.2.1 into IPv4, which is how a socket of both families names it.
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}
