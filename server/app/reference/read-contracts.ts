import { readdir } from 'node:fs/promises';
import type { RouteContract } from '../../../contract/shared/route.ts';

const ROUTES = new URL('../../../contract/routes/', import.meta.url);

/** Schemas and constants are exported beside the routes; only a route has a method and a path. */
function isRouteContract(exported: unknown): exported is RouteContract {
  return typeof exported === 'object' && exported !== null && 'method' in exported && 'path' in exported;
}

const METHODS: readonly RouteContract['method'][] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

function compareRoutes(a: RouteContract, b: RouteContract): number {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return METHODS.indexOf(a.method) - METHODS.indexOf(b.method);
}

/** Every route of the contract in order of path, read from its folder: a route cannot be forgotten here. */
export async function readContracts(): Promise<RouteContract[]> {
  const names = (await readdir(ROUTES)).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  const modules = await Promise.all(
    names.map((name): Promise<Record<string, unknown>> => import(new URL(name, ROUTES).href)),
  );
  const contracts = modules.flatMap((module) => Object.values(module).filter(isRouteContract));
  return contracts.toSorted(compareRoutes);
}
