import { declareSettings, secret } from '../config/index.ts';
import { decodeMasterKeys } from './master-key.ts';

function checkKeys(value: string): void {
  if (!decodeMasterKeys(value)) throw new Error('must be 32 bytes in base64 (openssl rand -base64 32)');
}

export const cryptoSettings = declareSettings('Secrets at rest', {
  ENCRYPTION_KEY: secret({
    doc: 'Seals stored credentials: 32 bytes in base64. Generated in DATA_DIR; must be given when DATABASE_URL is used by several replicas. Keep a copy: what it sealed cannot be read without it. To change it, give two, separated by a comma: the first seals, both open (docs/apps.md).',
    defaultText: 'DATA_DIR/master.key',
    check: checkKeys,
  }),
});
