import type { Vault } from '../../platform/crypto/index.ts';
import type { ToolBinding, ToolDefinition } from '../tools/index.ts';
import type { AppShelf } from './app-cache.ts';
import type { AppRow } from './app.store.ts';
import { placeOfCredential } from './configure-installation.ts';
import type { InstallationRow } from './installation.store.ts';
import { looksSecret } from './hidden-values.ts';
import { placeOfHeader } from './publish-version.ts';
import { openDefinition } from './seal-definition.ts';

function credentialsOf(vault: Vault, row: InstallationRow): Record<string, string> {
  const opened = Object.entries(row.credentials).map(([name, sealed]): [string, string] => [
    name,
    vault.open(placeOfCredential(row, name), sealed),
  ]);
  return Object.fromEntries(opened);
}

/** Headers whose values are words of the protocol. */
const PLAIN_HEADERS = new Set(['accept', 'accept-language', 'content-type', 'user-agent']);
/** Long, of letters and figures: nobody says that by chance. */
const RANDOM = /^(?=.*\d)(?=.*[a-z])\S{16,}$/i;

/** Whether a header is a secret, and not a word that answers may need as well. */
function isSecretHeader(name: string, value: string): boolean {
  return looksSecret(name) || (!PLAIN_HEADERS.has(name.toLowerCase()) && RANDOM.test(value));
}

interface Sent {
  baseUrl: string | undefined;
  headers: Record<string, string>;
  credentials: Record<string, string>;
}

function bindingWith({ baseUrl, headers, credentials }: Sent): ToolBinding {
  const secretHeaders = Object.entries(headers).filter(([name, value]) => isSecretHeader(name, value));
  return {
    ...(baseUrl === undefined || baseUrl === '' ? {} : { baseUrl }),
    headers,
    credentials,
    secrets: [...secretHeaders.map(([, value]) => value), ...Object.values(credentials)],
  };
}

/** Of an installed app: the credentials of the installer, and nothing of the publisher but how they are sent. */
function installedBinding(vault: Vault, row: InstallationRow): ToolBinding {
  const { publisherId: developerId, appKey, version, manifest, headerSecrets } = row;
  const headers = Object.entries(headerSecrets).map(([name, sealed]): [string, string] => [
    name,
    vault.open(placeOfHeader({ developerId, appKey, version }, name), sealed),
  ]);
  return bindingWith({
    baseUrl: manifest.baseUrl,
    headers: Object.fromEntries(headers),
    credentials: credentialsOf(vault, row),
  });
}

/** Of an own app. Its credentials are those of the developer's own installation of it, where there is one. */
function ownBinding(vault: Vault, row: AppRow, shelf: AppShelf): ToolBinding {
  const { baseUrl, headers = {} } = openDefinition(vault, row, row).serviceConfig ?? {};
  const installed = [...shelf.installations.values()].find((entry) => entry.row.appKey === row.id);
  return bindingWith({
    baseUrl,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]),
    ),
    credentials: installed ? credentialsOf(vault, installed.row) : {},
  });
}

function makeBinding(
  vault: Vault,
  shelf: AppShelf,
  { appId, installationId }: ToolDefinition,
): ToolBinding | undefined {
  if (installationId !== undefined) {
    const installed = shelf.installations.get(installationId);
    return installed && installedBinding(vault, installed.row);
  }
  const own = appId === undefined ? undefined : shelf.apps.get(appId);
  return own && ownBinding(vault, own.row, shelf);
}

type ReadBinding = (shelf: AppShelf, definition: ToolDefinition) => ToolBinding | undefined;

/**
 * What the app of a tool adds to its calls; undefined when the tool belongs to none that is there. Secrets are opened
 * once and kept for as long as the shelf is, which ends with any change of the developer's apps.
 */
export function createBindingReader(vault: Vault): ReadBinding {
  const opened = new WeakMap<AppShelf, Map<string, ToolBinding>>();
  return (shelf, definition) => {
    const bindings = opened.get(shelf) ?? new Map<string, ToolBinding>();
    opened.set(shelf, bindings);
    const { appId, installationId } = definition;
    const key = JSON.stringify([appId, installationId]);
    const known = bindings.get(key);
    if (known) return known;
    const binding = makeBinding(vault, shelf, definition);
    if (binding) bindings.set(key, binding);
    return binding;
  };
}
