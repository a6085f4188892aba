// Secrets at rest: text sealed under the master key and bound to the place where it is stored.
// Used by modules that store credentials; the master key is read, or made at the first start, by app.
// Must not know what is sealed or where the sealed text is kept.
export { createVault, VaultError, type SealPlace, type Vault } from './vault.ts';
export { readMasterKey } from './master-key.ts';
export { cryptoSettings } from './crypto.settings.ts';
