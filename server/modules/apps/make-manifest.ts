import { HIDDEN, type AppDefinition } from '../../../contract/routes/apps.ts';
import type { Execution } from '../../../contract/routes/tools.ts';
import { credentialsIn, type ToolDefinition } from '../tools/index.ts';
import { looksSecret } from './hidden-values.ts';
import type { Manifest, ManifestTool } from './manifest.ts';

/** What filling leaves of a text has to come from somewhere: the input or a credential of the installer. */
const TEMPLATE = /\{[^{}\s"':,]+\}|\{\{\s*credentials\.[^{}]+\}\}/;

/** Without values that are the publisher's own: written out at a place that looks secret. */
function withoutOwnSecrets(value: unknown, isSecret = false): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => withoutOwnSecrets(item, isSecret)).filter((item) => item !== undefined);
  }
  if (typeof value !== 'object' || value === null) {
    const isOwn = isSecret && (typeof value === 'number' || (typeof value === 'string' && !TEMPLATE.test(value)));
    return isOwn || value === HIDDEN ? undefined : value;
  }
  const kept = Object.entries(value)
    .map(([key, member]): [string, unknown] => [key, withoutOwnSecrets(member, isSecret || looksSecret(key))])
    .filter(([, member]) => member !== undefined);
  return Object.fromEntries(kept);
}

function withoutSecretQuery(url: string): string {
  const [path = '', query] = url.split(/\?(.*)/s, 2);
  if (query === undefined) return url;
  const pairs = query.split('&').filter((pair) => {
    const [name = '', value = ''] = pair.split(/=(.*)/s, 2);
    return !looksSecret(name) || TEMPLATE.test(value);
  });
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
}

/** The url as seen from another app: a relative one of a tool that has a service of its own becomes absolute. */
function urlOf(url: string, ownBaseUrl: string | undefined): string {
  if (URL.canParse(url) || ownBaseUrl === undefined || ownBaseUrl === '') return url;
  return `${ownBaseUrl.replace(/\/+$/, '')}/${url.replace(/^\/+/, '')}`;
}

/** Safe because only values were left out, at places that may hold any JSON. */
function asExecution(execution: unknown): Execution {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return execution as Execution;
}

function executionOf(execution: Execution, ownBaseUrl: string | undefined): Execution {
  const { url, headers, params, body, ...rest } = execution;
  const parts = withoutOwnSecrets({ headers, params, body });
  const kept = typeof parts === 'object' ? parts : {};
  return asExecution({
    ...rest,
    ...(url === undefined ? {} : { url: withoutSecretQuery(urlOf(url, ownBaseUrl)) }),
    ...kept,
  });
}

export interface ManifestSource {
  definition: AppDefinition;
  /** Header values of the service that ask for credentials. */
  headerTemplates: Readonly<Record<string, string>>;
  tools: readonly ToolDefinition[];
  packs: Manifest['packs'];
  /** The service address of another app of the publisher. */
  baseUrlOf: (appId: string) => string | undefined;
}

/** What is published of an app. Pure. */
export function makeManifest(source: ManifestSource): Manifest {
  const { definition, headerTemplates, packs, baseUrlOf } = source;
  const { app, serviceConfig = {}, dashboard } = definition;
  const tools = source.tools.map(({ name, description, inputSchema, execution, appId }): ManifestTool => {
    const ownBaseUrl = appId === undefined || appId === app.id ? undefined : baseUrlOf(appId);
    return { name, description, inputSchema, ...(execution && { execution: executionOf(execution, ownBaseUrl) }) };
  });
  const headerCredentials = credentialsIn(headerTemplates);
  const used = tools.flatMap(({ execution = {} }) => credentialsIn(execution));
  const { baseUrl } = serviceConfig;
  return {
    app: asApp(withoutOwnSecrets(app)),
    ...(baseUrl === undefined || baseUrl === '' ? {} : { baseUrl }),
    ...(dashboard && { dashboard: asDashboard(withoutOwnSecrets(dashboard)) }),
    tools,
    packs,
    credentials: [...new Set([...(serviceConfig.credentials ?? []), ...headerCredentials, ...used])],
    headerCredentials,
  };
}

/** Safe because its own fields do not look secret; what was left out is among the keys that are open. */
function asApp(app: unknown): Manifest['app'] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return app as Manifest['app'];
}

/** Safe for the same reason. */
function asDashboard(dashboard: unknown): NonNullable<Manifest['dashboard']> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return dashboard as NonNullable<Manifest['dashboard']>;
}
