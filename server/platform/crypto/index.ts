// Secrets at rest: text sealed under the master key and bound to the place where it is stored.
// Used by modules that store credentials; the master key is read, made at the first start, or rotated, by app.
// Must not know what is sealed or where the sealed text is kept.
export { createVault, VaultError, type Seal, type SealPlace, type Vault } from './vault.ts';
export { fixedKeys, openMasterKeys } from './master-keys.ts';
export { createMasterKey } from './master-key.ts';
export { keyFileMark, keyFileOf, readKeyFile, replaceKeyFile } from './key-file.ts';
export { waitForSealers } from './present-key.store.ts';
export { resealAll, type RowKey, type SealedRow, type SealedTable } from './reseal.ts';
export { cryptoSettings } from './crypto.settings.ts';
