import type { RouteContract } from '../../../contract/shared/route.ts';
import { describeTags } from '../openapi/index.ts';
import { page, table } from './table.ts';

/** The reference page of the operations: one line each, by tag. */
export function apiPage(contracts: readonly RouteContract[]): string {
  const byTag = Map.groupBy(contracts, ({ tag }) => tag);
  const sections = describeTags(byTag.keys()).map(({ name, description = '' }) => {
    const rows = (byTag.get(name) ?? []).map(({ method, path, permission, summary }) => [
      `\`${method} ${path}\``,
      permission,
      summary,
    ]);
    return `## ${name}\n\n${description}\n\n${table(['Operation', 'Permission', 'What it does'], rows)}`;
  });
  return page('API', [
    'Every request carries an API key, as `X-API-Key: <key>` or `Authorization: Bearer <key>`, that holds the permission of the operation. Bodies are JSON. A running service shows the fields, the answers and examples at `/docs`, and serves them as OpenAPI 3.1 at `/openapi.json`. Refusals are on the page [Errors](errors.md).',
    ...sections,
  ]);
}
