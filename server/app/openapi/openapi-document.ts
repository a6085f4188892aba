import { Type } from 'typebox';
import type { EventContract } from '../../../contract/events/index.ts';
import { ERROR_CODES } from '../../../contract/shared/errors.ts';
import type { RouteContract } from '../../../contract/shared/route.ts';
import { OneOf } from '../../../contract/shared/schemas.ts';
import { sharedErrorResponses } from './error-responses.ts';
import { headerComponents } from './headers.ts';
import { operationOf } from './operation.ts';
import { describeTags } from './tags.ts';
import { webhooksOf } from './webhooks.ts';

const Message = Type.String({ description: 'A sentence for whoever reads the log of the client.' });

const SCHEMAS = {
  Error: Type.Object({ error: Type.Object({ code: OneOf(Object.keys(ERROR_CODES)), message: Message }) }),
  ErrorWithoutCode: Type.Object({ error: Type.Object({ message: Message }) }),
};

const SECURITY_SCHEMES = {
  ApiKeyHeader: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'The API key. Wins over BearerKey.' },
  BearerKey: { type: 'http', scheme: 'bearer', description: 'The same API key as a bearer token.' },
};

function pathItem(routes: readonly RouteContract[]): object {
  return Object.fromEntries(routes.map((route) => [route.method.toLowerCase(), operationOf(route)]));
}

function pathsOf(contracts: readonly RouteContract[]): Record<string, object> {
  const byPath = [...Map.groupBy(contracts, ({ path }) => path)];
  return Object.fromEntries(byPath.map(([path, routes]) => [path, pathItem(routes)]));
}

/** The OpenAPI 3.1 description of the routes, and of the events that webhooks receive. */
export function openApiDocument(
  contracts: readonly RouteContract[],
  info: { version: string },
  events: readonly EventContract[] = [],
): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tessera API',
      version: info.version,
      description:
        'A developer AI platform: keys, chat with tools, knowledge, graphs, workflows, apps and events. Bodies are JSON. Every request under /v1 carries an API key.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: describeTags([...contracts.map(({ tag }) => tag), ...(events.length > 0 ? ['Events'] : [])]),
    security: [{ ApiKeyHeader: [] }, { BearerKey: [] }],
    paths: pathsOf(contracts),
    ...(events.length > 0 ? { webhooks: webhooksOf(events) } : {}),
    components: {
      schemas: SCHEMAS,
      responses: sharedErrorResponses(),
      headers: headerComponents(),
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}
