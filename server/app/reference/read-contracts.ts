import { readdir } from 'node:fs/promises';
import type { RouteContract } from '../../../contract/shared/route.ts';

const ROUTES = new URL('../../../contract/routes/', import.meta.url);

/** Schemas and constants are exported beside the routes; only a route has a method and a path. */
function isRouteContract(exported: unknown): exported is RouteContract {
  return typeof exported === 'object' && exported !== null && 'method' in exported && 'path' in exported;
}

/** Every route of the contract, read from its folder: a route cannot be forgotten here. */
export async function readContracts(): Promise<RouteContract[]> {
  const names = (await readdir(ROUTES)).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  const modules = await Promise.all(
    names.toSorted().map((name): Promise<Record<string, unknown>> => import(new URL(name, ROUTES).href)),
  );
  return modules.flatMap((module) => Object.values(module).filter(isRouteContract));
}
