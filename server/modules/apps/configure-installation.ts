import { HIDDEN } from '../../../contract/routes/apps.ts';
import type { Seal, SealPlace } from '../../platform/crypto/index.ts';
import { AppError } from '../../platform/errors/index.ts';
import { announce, type AppParts } from './app-parts.ts';
import { readBack, tellBoth } from './install-app.ts';
import { isComplete } from './installation-wire.ts';
import { lockInstallation, saveInstallation, type InstallationRow } from './installation.store.ts';
import { demandInstallationId, noSuchInstallation } from './no-such-installation.ts';

/** Values by name: null takes one away, "***" keeps it. */
type Given = Readonly<Record<string, string | null>>;

export function placeOfCredential(
  { developerId, id }: Pick<InstallationRow, 'developerId' | 'id'>,
  name: string,
): SealPlace {
  return { purpose: 'app-credential', developerId, row: id, field: name };
}

function refuse(field: string, why: string): never {
  throw new AppError('INVALID_REQUEST', `${field} ${why}`);
}

function changed(seal: Seal, row: InstallationRow, given: Given): Record<string, string> {
  const credentials = new Map(Object.entries(row.credentials));
  const asked = row.manifest.credentials;
  for (const [name, value] of Object.entries(given)) {
    const field = `credentials.${name}`;
    if (!asked.includes(name)) refuse(field, `is not asked for; the app asks for ${asked.join(', ') || 'nothing'}.`);
    if (value === null) credentials.delete(name);
    else if (value !== HIDDEN) credentials.set(name, seal(placeOfCredential(row, name), value));
    else if (!credentials.has(name)) refuse(field, `is "${HIDDEN}", which keeps a stored value, and there is none.`);
  }
  return Object.fromEntries(credentials);
}

/** Stores credentials. Both sides are told when none is missing any more, and of every change after that. */
export async function configureInstallation(
  parts: AppParts,
  { developerId, id }: { developerId: string; id: string },
  given: Given,
): Promise<InstallationRow> {
  demandInstallationId(id);
  return parts.database.transaction(async (tx) => {
    const row = await lockInstallation(tx, developerId, id);
    if (!row) throw noSuchInstallation(id);
    const seal = await parts.vault.sealer(tx);
    await saveInstallation(tx, { ...row, credentials: changed(seal, row, given) });
    const stored = await readBack(tx, developerId, id);
    if (isComplete(stored)) await tellBoth(tx, stored, 'app.configured');
    await announce(tx, developerId);
    return stored;
  });
}
