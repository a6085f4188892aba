import { isIPv4, isIPv6 } from 'node:net';

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const TIME = /^(\d\d):(\d\d):(\d\d)(?:\.\d{1,12})?(?:z|[+-](\d\d):(\d\d))$/i;
const DURATION = /^P(?:\d+W|(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?:\d+H)?(?:\d+M)?(?:\d+S)?)?)$/;
const LOCAL_PART = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}$/;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
const URI_CHARACTERS = /^(?:[\w\-.~:/?#[\]@!$&'()*+,;=]|%[0-9a-f]{2})*$/i;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/;

function isDate(text: string): boolean {
  const [, year = '', month = '', day = ''] = DATE.exec(text) ?? [];
  if (year === '') return false;
  const date = new Date(Date.UTC(2000, Number(month) - 1, Number(day)));
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
}

/** RFC 3339 full-time. The 60th second exists at the end of a UTC day only, so it is taken where it could be that. */
function isTime(text: string): boolean {
  const [, hours = '', minutes = '', seconds = '', offsetHours = '0', offsetMinutes = '0'] = TIME.exec(text) ?? [];
  if (hours === '' || Number(offsetHours) > 23 || Number(offsetMinutes) > 59) return false;
  return Number(hours) < 24 && Number(minutes) < 60 && Number(seconds) <= 60;
}

function isDateTime(text: string): boolean {
  return isDate(text.slice(0, 10)) && /^[t ]$/i.test(text.charAt(10)) && isTime(text.slice(11));
}

function isHostname(text: string): boolean {
  return text.length <= 253 && text.split('.').every((label) => LABEL.test(label));
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, Math.max(0, at));
  if (!LOCAL_PART.test(local) || local.startsWith('.') || local.endsWith('.') || local.includes('..')) return false;
  return isHostname(text.slice(at + 1));
}

/** Checks of the formats that are asserted, each linear in the text. RFC 3339, 5321, 1123, 3986, 6901, ISO 8601. */
export const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['date', isDate],
  ['time', isTime],
  ['date-time', isDateTime],
  ['duration', (text) => DURATION.test(text) && /\d/.test(text) && !text.endsWith('T')],
  ['email', isEmail],
  ['hostname', isHostname],
  ['ipv4', isIPv4],
  ['ipv6', (text) => isIPv6(text) && !text.includes('%')],
  ['uri', (text) => SCHEME.test(text) && URI_CHARACTERS.test(text)],
  ['uri-reference', (text) => URI_CHARACTERS.test(text)],
  ['url', (text) => /^(?:https?|ftp):\/\/[^/?#]/i.test(text) && URI_CHARACTERS.test(text)],
  ['uuid', (text) => UUID.test(text)],
  ['json-pointer', (text) => POINTER.test(text)],
]);
