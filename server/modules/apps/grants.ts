import type { Grants } from '../../../contract/routes/marketplace.ts';
import { credentialsIn } from '../tools/index.ts';
import type { Manifest, ManifestTool } from './manifest.ts';

function hostOf(url: string, baseUrl: string | undefined): string | undefined {
  const address = URL.canParse(url) ? url : baseUrl;
  return address !== undefined && URL.canParse(address) ? new URL(address).host : undefined;
}

function grantOf({ name, description, execution }: ManifestTool, manifest: Manifest): Grants['tools'][number] {
  if (execution?.type !== 'http') return { name, description, type: 'handler', credentials: [] };
  const { method, url = '', headers, params, body } = execution;
  const host = hostOf(url, manifest.baseUrl);
  const isOwnService = manifest.baseUrl === undefined || host === hostOf('', manifest.baseUrl);
  const used = [...credentialsIn({ headers, params, body }), ...(isOwnService ? manifest.headerCredentials : [])];
  return {
    name,
    description,
    type: 'http',
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    ...(host === undefined ? {} : { host }),
    credentials: [...new Set(used)],
  };
}

/** What somebody who installs this version agrees to: tools, hosts called, credentials asked. */
export function grantsOf(manifest: Manifest): Grants {
  const tools = manifest.tools.map((tool) => grantOf(tool, manifest));
  const hosts = tools.flatMap(({ host }) => (host === undefined ? [] : [host]));
  return { tools, hosts: [...new Set(hosts)].toSorted(), credentials: manifest.credentials };
}
