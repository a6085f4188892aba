import ipaddr from 'ipaddr.js';
import { OutboundError } from './outbound-error.ts';

export interface OutboundPolicy {
  /** Whether loopback, private and other special addresses may be reached at all. */
  allowPrivate: boolean;
  /** Host names, addresses and CIDRs that are always allowed. */
  allow: readonly string[];
}

type Network = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Decides by which addresses a request may be sent. */
export interface AddressPolicy {
  /** Whether whatever this host name resolves to may be reached. */
  isAllowedName: (hostname: string) => boolean;
  /** Throws OutboundError `refused` unless the address may be reached. */
  demandAllowed: (address: string, hostname: string) => void;
}

function networkOf(entry: string): Network | undefined {
  if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry);
  if (!ipaddr.isValid(entry)) return undefined;
  const address = ipaddr.parse(entry);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

function contains([network, bits]: Network, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return network.kind() === address.kind() && address.match(network, bits);
}

/** Lower case, without the dot that may end a full name and the brackets around an IPv6 literal. */
export function plainHostname(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/\.$/, '')
    .replace(/^\[(.*)\]$/, '$1');
}

/** Names that mean this machine, whatever a resolver says of them (RFC 6761). */
function isLocalName(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost');
}

function refuse(hostname: string): never {
  throw new OutboundError(
    'refused',
    `${hostname} is a private, local or otherwise special address, which this server does not call; OUTBOUND_ALLOW=${hostname} in its settings would open it.`,
  );
}

/**
 * Makes the decisions of a policy. Only plain global unicast passes unasked: loopback, private, link-local, CGNAT,
 * multicast, reserved, documentation and benchmarking ranges, and every form that carries an IPv4 address inside an
 * IPv6 one (mapped, 6to4, NAT64, Teredo) are refused.
 */
export function createAddressPolicy({ allowPrivate, allow }: OutboundPolicy): AddressPolicy {
  const networks = allow.map(networkOf).filter((network) => network !== undefined);
  const names = new Set(allow.filter((entry) => networkOf(entry) === undefined).map(plainHostname));
  const isAllowedName = (hostname: string): boolean => names.has(plainHostname(hostname));
  return {
    isAllowedName,
    demandAllowed: (address, hostname) => {
      if (allowPrivate || isAllowedName(hostname)) return;
      if (!ipaddr.isValid(address)) refuse(hostname);
      const parsed = ipaddr.parse(address);
      if (networks.some((network) => contains(network, parsed))) return;
      if (isLocalName(plainHostname(hostname)) || parsed.range() !== 'unicast') refuse(hostname);
    },
  };
}
