import { LIMITS } from '../../../contract/shared/limits.ts';
import { AppError } from '../../platform/errors/index.ts';
import type { RequestContext } from '../../platform/http/index.ts';
import type { GraphName } from './store/graph-row.ts';

/** The graph that a request names. */
export function graphNameOf({ caller }: RequestContext, { id }: { id: string }): GraphName {
  return { developerId: caller.developerId, appId: id };
}

/** The same, for writes: they make a graph, so its id has to be one that can be kept. */
export function writableGraphName(ctx: RequestContext, params: { id: string }): GraphName {
  if (params.id.length > LIMITS.nameLength || /\p{Cc}/u.test(params.id)) {
    throw new AppError(
      'INVALID_REQUEST',
      `id must have at most ${LIMITS.nameLength} characters, and no control characters.`,
    );
  }
  return graphNameOf(ctx, params);
}

/** The refusal for a graph that is absent or somebody else's: both look the same. */
export function noSuchGraph(appId: string): AppError {
  return new AppError('NOT_FOUND', `There is no graph "${appId}".`);
}

export function noSuchNode(externalId: string): AppError {
  return new AppError('NOT_FOUND', `There is no node "${externalId}" in the graph.`);
}
