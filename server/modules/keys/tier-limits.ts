import type { Tier } from '../../../contract/shared/tiers.ts';
import type { KeySettings } from './keys.settings.ts';

export interface TierLimits {
  perMinute: number;
  perDay: number;
}

/** The numbers of spec.md, Limits; enterprise is "customized", by settings. */
export function tierLimits(settings: KeySettings): Record<Tier, TierLimits> {
  return {
    free: { perMinute: 10, perDay: 1000 },
    basic: { perMinute: 100, perDay: 10_000 },
    pro: { perMinute: 500, perDay: 100_000 },
    enterprise: { perMinute: settings.ENTERPRISE_PER_MINUTE, perDay: settings.ENTERPRISE_PER_DAY },
  };
}
