import { declareSettings, secret } from '../config/index.ts';
import { decodeMasterKey } from './master-key.ts';

function checkKey(value: string): void {
  if (decodeMasterKey(value) === undefined) throw new Error('must be 32 bytes in base64 (openssl rand -base64 32)');
}

export const cryptoSettings = declareSettings('Secrets at rest', {
  ENCRYPTION_KEY: secret({
    doc: 'Seals stored credentials: 32 bytes in base64. Generated in DATA_DIR; must be given when DATABASE_URL is used by several replicas. Keep a copy: what it sealed cannot be read without it.',
    defaultText: 'DATA_DIR/master.key',
    check: checkKey,
  }),
});
