import { HIDDEN } from '../../../contract/routes/apps.ts';

/** What stands at a hidden place. */
export type HiddenValue = string | number | boolean;

const SECRET_KEY =
  /passw|pwd|passphrase|passcode|secret|token|jwt|credential|authorization|bearer|cookie|密码|密钥|口令|令牌|(?:api|access|private|client|signing|encryption|shared|auth)[-_ .]?key/i;
/** Keys that speak of a secret without holding one. */
const ABOUT_SECRET = /^(?:max|min|num)|(?:url|uri|endpoint|name|names|type|field|header|label|title|count|limit|ttl)$/i;
/** A user name and a password in an address. */
const USER_INFO = /^[a-z][a-z\d+.-]*:\/\/[^/\s:@]*:[^/\s@]+@/i;

const HEADERS = '/serviceConfig/headers';
/** Names that an installer is asked for, and nothing else. */
const CREDENTIAL_NAMES = '/serviceConfig/credentials';

/** Whether values of such a key are secret, whatever they are. */
export function looksSecret(key: string): boolean {
  return SECRET_KEY.test(key) && !ABOUT_SECRET.test(key);
}

interface Place {
  /** JSON pointer (RFC 6901). */
  pointer: string;
  isSecret: boolean;
}

function below({ pointer, isSecret }: Place, key: string): Place {
  const child = `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  if (child === CREDENTIAL_NAMES) return { pointer: child, isSecret: false };
  return { pointer: child, isSecret: isSecret || pointer === HEADERS || looksSecret(key) };
}

function isScalar(value: unknown): value is HiddenValue {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function isHidden(value: HiddenValue, { pointer, isSecret }: Place): boolean {
  if (typeof value === 'boolean') return pointer.startsWith(`${HEADERS}/`);
  return isSecret || (typeof value === 'string' && USER_INFO.test(value));
}

/** A copy of a JSON value with each scalar replaced by what `replace` gives; a function decides by the place. */
function copyOf(value: unknown, place: Place, replace: (value: HiddenValue, place: Place) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item, index) => copyOf(item, belowIndex(place, index), replace));
  if (isScalar(value)) return replace(value, place);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, member]) => [key, copyOf(member, below(place, key), replace)]);
  // Defines own properties, whatever the keys are.
  return Object.fromEntries(entries);
}

function belowIndex({ pointer, isSecret }: Place, index: number): Place {
  return { pointer: `${pointer}/${index}`, isSecret };
}

const ROOT: Place = { pointer: '', isSecret: false };

/**
 * Takes the secrets out of a definition: it, with "***" in their places, and what stood there by JSON pointer.
 * `mustHold` is false for three asterisks where nothing looks secret: they mean themselves unless something was hidden.
 */
export function hideValues(definition: unknown): {
  shown: unknown;
  values: Map<string, { value: HiddenValue; mustHold: boolean }>;
} {
  const values = new Map<string, { value: HiddenValue; mustHold: boolean }>();
  const shown = copyOf(definition, ROOT, (value, place) => {
    if (value !== HIDDEN && !isHidden(value, place)) return value;
    values.set(place.pointer, { value, mustHold: place.isSecret });
    return HIDDEN;
  });
  return { shown, values };
}

/** The texts that stand in a value where "***" stands in what is shown of it. */
export function hiddenTexts(shown: unknown, value: unknown): string[] {
  if (shown === HIDDEN) return isScalar(value) && value !== HIDDEN ? [String(value)] : [];
  if (typeof shown !== 'object' || shown === null || typeof value !== 'object' || value === null) return [];
  const members = new Map(Object.entries(value));
  return Object.entries(shown).flatMap(([key, member]) => hiddenTexts(member, members.get(key)));
}

/** The definition with what was hidden back in its places. */
export function revealValues(shown: unknown, valueAt: (pointer: string) => HiddenValue | undefined): unknown {
  return copyOf(shown, ROOT, (value, { pointer }) => (value === HIDDEN ? (valueAt(pointer) ?? value) : value));
}
