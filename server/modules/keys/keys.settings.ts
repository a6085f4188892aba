import { TIERS } from '../../../contract/shared/tiers.ts';
import { declareSettings, integer, oneOf, secret, url, type SettingsOf } from '../../platform/config/index.ts';

const MIN_KEY_LENGTH = 32;
const MAX_KEY_LENGTH = 512;

export const keySettings = declareSettings('Keys and limits', {
  BOOTSTRAP_API_KEY: secret({
    doc: `A key of the first developer, with read, write and admin; ${MIN_KEY_LENGTH} characters or more, taken as it is. Given on a later start, it is added.`,
    defaultText: 'generated at the first start and printed once',
    check: (value) => {
      if (value.length < MIN_KEY_LENGTH || value.length > MAX_KEY_LENGTH) {
        throw new Error(`must have ${MIN_KEY_LENGTH} to ${MAX_KEY_LENGTH} characters`);
      }
      if (!/^[\x21-\x7e]+$/.test(value)) throw new Error('must consist of printable ASCII characters without spaces');
    },
  }),
  BOOTSTRAP_TIER: oneOf(TIERS, { default: 'enterprise', doc: 'Tier of the first developer, when it is created.' }),
  ENTERPRISE_PER_MINUTE: integer({
    default: 10_000,
    min: 1,
    max: 100_000_000,
    doc: 'Requests per minute of each enterprise key.',
  }),
  ENTERPRISE_PER_DAY: integer({
    default: 10_000_000,
    min: 1,
    max: 1_000_000_000_000,
    doc: 'Requests per UTC day of each enterprise key.',
  }),
  ANONYMOUS_PER_MINUTE: integer({
    default: 600,
    min: 1,
    max: 100_000_000,
    doc: 'Requests per minute of one address, of one /64 network for IPv6, that carry no valid key.',
  }),
  REDIS_URL: url(['redis', 'rediss'], {
    default: undefined,
    doc: 'Redis or Valkey that makes the limits exact across processes. Without it, or while it is away, each process counts for itself.',
  }),
});

export type KeySettings = SettingsOf<typeof keySettings>;
