import { declareSettings, integer, secret, text } from '../config/index.ts';

const SCHEMES = ['postgres:', 'postgresql:'];

/** Throws when the text is no PostgreSQL URL; never repeats it, since it may hold a password. */
function checkUrl(value: string): void {
  if (URL.canParse(value) && SCHEMES.includes(new URL(value).protocol)) return;
  throw new Error('must be a URL that starts with postgres:// or postgresql://');
}

export const dbSettings = declareSettings('Storage', {
  DATABASE_URL: secret({
    doc: 'Your own PostgreSQL 15 or later. Without it the service runs its own inside DATA_DIR.',
    check: checkUrl,
  }),
  DATA_DIR: text({ default: './data', doc: 'Folder of the embedded database and of generated keys.' }),
  TESSERA_PG_USER: text({
    default: undefined,
    doc: 'User of this machine that runs the embedded database when the service is started by root.',
    defaultText: 'owner of its folder, else nobody',
  }),
  DATABASE_POOL: integer({
    default: 10,
    min: 1,
    max: 200,
    doc: 'Most connections this process opens for its queries.',
  }),
});
