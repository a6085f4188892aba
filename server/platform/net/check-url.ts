import type { AddressPolicy } from './address-policy.ts';
import { plainHostname } from './allow-list.ts';
import { OutboundError } from './outbound-error.ts';

/** The longest name that can be looked up (RFC 1035, 2.3.4), with the dot that may end it. */
const MAX_HOSTNAME_LENGTH = 254;

/**
 * Checks what an address shows without asking anybody: http or https, no credentials, and no literal address or name
 * that the policy refuses. Odd spellings of addresses (octal, hex, decimal, short) are normalised by the URL parser first.
 */
export function checkUrl(text: string, policy: AddressPolicy): URL {
  const url = URL.parse(text);
  if (!url) throw new OutboundError('refused', 'The address is not a valid URL.');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new OutboundError('refused', `Only http and https addresses are called, not ${url.protocol}//.`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new OutboundError('refused', 'The address must not contain a user name or password.');
  }
  if (url.hostname.length > MAX_HOSTNAME_LENGTH) {
    throw new OutboundError('refused', 'The address names a host that is too long to exist.');
  }
  if (plainHostname(url.hostname) === '') throw new OutboundError('refused', 'The address names no host.');
  policy.demandHost(url.hostname);
  return url;
}
