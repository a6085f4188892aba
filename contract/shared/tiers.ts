/** Service tiers, lowest first. A key carries the tier of its developer. */
export const TIERS = ['free', 'basic', 'pro', 'enterprise'] as const;
export type Tier = (typeof TIERS)[number];

/** What a key may do. `admin` implies neither of the others. */
export const PERMISSIONS = ['read', 'write', 'admin'] as const;
export type Permission = (typeof PERMISSIONS)[number];
