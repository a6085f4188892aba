import type { SealPlace } from '../../platform/crypto/index.ts';
import type { Transaction } from '../../platform/db/index.ts';
import { AppError } from '../../platform/errors/index.ts';
import { credentialsIn } from '../tools/index.ts';
import type { AppParts } from './app-parts.ts';
import { allApps, type AppRow } from './app.store.ts';
import { definitionsOf, toolNamesOf } from './app-tools.ts';
import { makeManifest } from './make-manifest.ts';
import { openDefinition } from './seal-definition.ts';
import { insertVersion, removeUnusedVersions, type VersionRow } from './version.store.ts';

const MAX_MANIFEST_BYTES = 4 * 1024 * 1024;

export function placeOfHeader(
  { developerId, appKey, version }: Pick<VersionRow, 'developerId' | 'appKey' | 'version'>,
  name: string,
): SealPlace {
  return { purpose: 'app-version', developerId, row: `${appKey}/${version}`, field: name };
}

/** Header values of the service that ask for credentials: those an installer's calls are sent with. */
function headerTemplatesOf({ vault }: AppParts, row: AppRow): Record<string, string> {
  const headers = openDefinition(vault, row, row).serviceConfig?.headers ?? {};
  const templates = Object.entries(headers).filter(([, value]) => credentialsIn(value).length > 0);
  return Object.fromEntries(templates.map(([name, value]): [string, string] => [name, String(value)]));
}

/** Pins what the app is now as the version of the row, which has to be saved in the same transaction. */
export async function publishVersion(parts: AppParts, tx: Transaction, row: AppRow): Promise<void> {
  const { developerId, id: appKey, version, definition } = row;
  const headerTemplates = headerTemplatesOf(parts, row);
  const packs = await parts.tools.readPacks(developerId, definition.toolPacks ?? []);
  const baseUrls = new Map(
    (await allApps(tx, developerId)).map((app) => [app.appId, app.definition.serviceConfig?.baseUrl]),
  );
  const manifest = makeManifest({
    definition,
    headerTemplates,
    tools: await definitionsOf(parts.tools, { developerId, definition }, toolNamesOf(definition, packs)),
    packs: packs.map(({ packId, knowledge }) => ({ packId, knowledge })),
    baseUrlOf: (appId) => baseUrls.get(appId),
  });
  if (Buffer.byteLength(JSON.stringify(manifest)) > MAX_MANIFEST_BYTES) {
    throw new AppError('CONFLICT', `The app and its tools are larger than ${MAX_MANIFEST_BYTES / 1024 / 1024} MB.`);
  }
  const key = { developerId, appKey, version };
  const seal = await parts.vault.sealer(tx);
  const secrets = Object.entries(headerTemplates).map(([name, value]): [string, string] => [
    name,
    seal(placeOfHeader(key, name), value),
  ]);
  await insertVersion(tx, { ...key, manifest, secrets: Object.fromEntries(secrets) });
  await removeUnusedVersions(tx, developerId, appKey);
}
