/** One address, with the name of who is behind it or an empty one. */
export interface MailAddress {
  name: string;
  address: string;
}

/** Longer ones cannot be delivered (RFC 5321, 4.5.3.1). */
const MAX_LOCAL_LENGTH = 64;
const MAX_DOMAIN_LENGTH = 255;
const LOCAL = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i;
const DOMAIN =
  /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?(?:\.[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?)*$/u;
const CONTROL = /\p{Cc}/u;

function isAddress(text: string): boolean {
  const at = text.lastIndexOf('@');
  const [local, domain] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)];
  if (local.length > MAX_LOCAL_LENGTH || domain.length > MAX_DOMAIN_LENGTH) return false;
  return LOCAL.test(local) && DOMAIN.test(domain);
}

/** Splits at commas that stand neither in quotes nor in angle brackets. */
function splitList(text: string): string[] {
  const parts = [''];
  let closing = '';
  for (const character of text) {
    if (closing === '' && character === ',') {
      parts.push('');
      continue;
    }
    if (closing === '') closing = character === '"' ? '"' : character === '<' ? '>' : '';
    else if (character === closing) closing = '';
    parts.push(`${parts.pop() ?? ''}${character}`);
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

function parseAddress(text: string): MailAddress {
  const inBrackets = text.endsWith('>') && text.includes('<');
  const start = text.lastIndexOf('<');
  const address = inBrackets ? text.slice(start + 1, -1).trim() : text;
  const given = inBrackets ? text.slice(0, start).trim() : '';
  const name = /^".*"$/.test(given) ? given.slice(1, -1).trim() : given;
  if (isAddress(address) && !/["<>]/.test(name)) return { name, address };
  throw new Error(`${JSON.stringify(text.slice(0, 100))} is not a mail address`);
}

/**
 * Reads addresses that are separated by commas, each `name@host` or `Name <name@host>`. Throws an Error that shows what is
 * none; a line break or another control character anywhere is none.
 */
export function parseAddresses(text: string): MailAddress[] {
  if (CONTROL.test(text)) throw new Error('a mail address holds a line break or another control character');
  return splitList(text).map(parseAddress);
}
