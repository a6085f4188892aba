// API keys, developers, tiers, limits and usage: who calls, what they may do and how often.
// Used by app, which hands `identify` and `spend` to the HTTP pipeline.
// Must not know what any endpoint does.
export { createKeys, type Keys } from './keys.ts';
export { keySettings } from './keys.settings.ts';
export { keyRoutes } from './keys.routes.ts';
export { adminRoutes } from './admin.routes.ts';
