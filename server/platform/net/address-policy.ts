import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { parseAllowEntry, plainHostname, type Address, type AllowEntry } from './allow-list.ts';
import { OutboundError } from './outbound-error.ts';

export interface OutboundPolicy {
  /** Whether loopback, private and other special addresses may be reached at all. */
  allowPrivate: boolean;
  /**
   * What is always allowed: host names, compared exactly and opening whatever they resolve to, addresses and CIDRs.
   * A name that means this machine or a metadata service is opened by its name only.
   */
  allow: readonly string[];
}

/** Decides by which names and addresses a request may be sent. Both throw OutboundError `refused`. */
export interface AddressPolicy {
  /** What can be told of a host, a name or a literal address, without resolving it. */
  demandHost: (hostname: string) => void;
  /** For an address that this host resolved to. */
  demandAddress: (address: string, hostname: string) => void;
}

/** Names that mean this machine (RFC 6761, and what systems put into their hosts file) or a cloud's metadata service. */
const REFUSED_NAMES =
  /^((.+\.)?localhost|localhost\.localdomain|ip6-(localhost|loopback)|metadata(\.google\.internal|\.goog)?|instance-data(\.ec2\.internal)?)$/;

/** The part of IPv6 from which global unicast addresses are given out (RFC 4291, IANA): the rest is special or unassigned. */
const GLOBAL_IPV6: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/** The host side of Azure, which serves credentials, has an address that looks public. */
const AZURE_HOST = '168.63.129.16';

function isGlobalUnicast(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv6 ? address.match(...GLOBAL_IPV6) : address.toString() !== AZURE_HOST;
}

function isInside(address: Address, entry: AllowEntry): boolean {
  return 'network' in entry && entry.network.kind() === address.kind() && address.match(entry.network, entry.bits);
}

function refuse(hostname: string): never {
  throw new OutboundError(
    'refused',
    `${hostname} is, or leads to, a private, local or otherwise special address, which this server does not call. OUTBOUND_ALLOW=${hostname} in its settings opens it.`,
  );
}

/**
 * Makes the decisions of a policy. Only plain global unicast passes unasked: loopback, private, link-local, CGNAT,
 * multicast, reserved, documentation and benchmarking ranges, and every form that carries an IPv4 address inside an
 * IPv6 one (mapped, compatible, 6to4, NAT64, Teredo) are refused.
 */
export function createAddressPolicy({ allowPrivate, allow }: OutboundPolicy): AddressPolicy {
  const entries = allow.map(parseAllowEntry);
  const names = new Set(entries.flatMap((entry) => ('name' in entry ? [entry.name] : [])));

  const demandAddress = (address: string, hostname: string): void => {
    if (allowPrivate || names.has(plainHostname(hostname))) return;
    if (!ipaddr.isValid(address)) refuse(hostname);
    const parsed = ipaddr.parse(address);
    if (isGlobalUnicast(parsed) || entries.some((entry) => isInside(parsed, entry))) return;
    refuse(hostname);
  };

  const demandHost = (hostname: string): void => {
    const host = plainHostname(hostname);
    // The URL parser has made every spelling of an address the plain one.
    if (isIP(host) !== 0) demandAddress(host, host);
    else if (REFUSED_NAMES.test(host) && !allowPrivate && !names.has(host)) refuse(host);
  };
  return { demandHost, demandAddress };
}
