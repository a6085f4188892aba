import type { EventContract } from '../../../contract/events/index.ts';
import type { RouteContract } from '../../../contract/shared/route.ts';
import type { HttpServer } from '../../platform/http/index.ts';
import { version } from '../version.ts';
import { openApiDocument } from './openapi-document.ts';

/** Serves GET /openapi.json. The document is made at the first request and kept as bytes. */
export function addOpenApiRoute(
  app: HttpServer,
  contracts: readonly RouteContract[],
  events: readonly EventContract[] = [],
): void {
  let serialized: Buffer | undefined;
  app.get('/openapi.json', (_request, reply) => {
    serialized ??= Buffer.from(JSON.stringify(openApiDocument(contracts, { version }, events)));
    return reply.type('application/json; charset=utf-8').send(serialized);
  });
}
