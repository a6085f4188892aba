import * as contract from '../../../contract/routes/admin.ts';
import { AppError } from '../../platform/errors/index.ts';
import { implement, type RequestContext, type Route } from '../../platform/http/index.ts';
import { createDeveloper } from './create-developer.ts';
import { listDevelopers, type DeveloperRow } from './developer.store.ts';
import type { Keys } from './keys.ts';
import { updateDeveloper } from './update-developer.ts';

const DEFAULT_PAGE = 100;

function wireDeveloper({ id, name, tier, enabled, createdAt }: DeveloperRow) {
  return { id, name, tier, enabled, createdAt: createdAt.toISOString() };
}

function demandOperator({ caller }: RequestContext): void {
  if (!caller.isOperator) throw new AppError('FORBIDDEN', 'Only admin keys of the first developer may do this.');
}

export function adminRoutes(keys: Keys): Route[] {
  return [
    implement(contract.createDeveloper, (ctx, { body }) => {
      demandOperator(ctx);
      return createDeveloper(keys.database, body);
    }),
    implement(contract.listDevelopers, async (ctx, { query }) => {
      demandOperator(ctx);
      const limit = query.limit ?? DEFAULT_PAGE;
      // One more than is shown tells whether there are more.
      const { rows, total } = await listDevelopers(keys.database, query.cursor ?? '', limit + 1);
      const shown = rows.slice(0, limit);
      const last = rows.length > limit ? shown.at(-1) : undefined;
      return { developers: shown.map(wireDeveloper), total, ...(last ? { nextCursor: last.id } : {}) };
    }),
    implement(contract.updateDeveloper, async (ctx, { params, body }) => {
      demandOperator(ctx);
      const { developer, keyHashes } = await updateDeveloper(keys.database, params.id, body);
      for (const keyHash of keyHashes) keys.forget(keyHash);
      return wireDeveloper(developer);
    }),
  ];
}
