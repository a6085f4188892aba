import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** An entry of an allow list: a host name, or a network (a single address is a network of one). */
export type AllowEntry = { name: string } | { network: Address; bits: number };

/** Lower case, without the dot that may end a full name and the brackets around an IPv6 literal. */
export function plainHostname(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/\.+$/, '')
    .replace(/^\[(.*)\]$/, '$1');
}

/** Throws an Error whose message completes "OUTBOUND_ALLOW …" unless the text is a host name, an address or a CIDR. */
export function parseAllowEntry(text: string): AllowEntry {
  const network = parseNetwork(text.replace(/^\[(.*)\]$/, '$1'));
  if (network) return network;
  const url = URL.canParse(`http://${text}`) ? new URL(`http://${text}`) : undefined;
  // Whatever the parser took for a port, a path or a user name would silently match nothing; so would a wildcard.
  if (!url || url.href !== `http://${url.hostname}/` || text.includes(':') || text.includes('*')) {
    throw new Error(`must list host names, addresses and CIDRs (no scheme, port, path or wildcard), but has "${text}"`);
  }
  return parseNetwork(url.hostname) ?? { name: plainHostname(url.hostname) };
}

/** Only full spellings: "10/8" would otherwise be read as 0.0.0.10/8. */
function parseNetwork(text: string): AllowEntry | undefined {
  if (ipaddr.IPv4.isValidCIDRFourPartDecimal(text) || ipaddr.IPv6.isValidCIDR(text)) {
    const [network, bits] = ipaddr.parseCIDR(text);
    return { network, bits };
  }
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return { network: ipaddr.IPv4.parse(text), bits: 32 };
  if (ipaddr.IPv6.isValid(text)) return { network: ipaddr.IPv6.parse(text), bits: 128 };
  return undefined;
}
