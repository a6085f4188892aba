import { isDeepStrictEqual } from 'node:util';

/** The value at a dotted path of own properties and array positions; undefined when there is none. */
function valueAt(data: Record<string, unknown>, path: string): unknown {
  // A key that itself contains dots is meant literally.
  if (Object.hasOwn(data, path)) return data[path];
  let value: unknown = data;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = Reflect.get(value, name);
  }
  return value;
}

/**
 * Whether an event is wanted: every key of the filter, a dotted path into data, must have exactly that JSON value
 * there; an array stands for any of its values, or for an array that equals it.
 */
export function matchesFilter(filter: Record<string, unknown> | null, data: Record<string, unknown>): boolean {
  if (filter === null) return true;
  return Object.entries(filter).every(([path, wanted]) => {
    const value = valueAt(data, path);
    if (value === undefined) return false;
    if (isDeepStrictEqual(value, wanted)) return true;
    return Array.isArray(wanted) && wanted.some((each) => isDeepStrictEqual(value, each));
  });
}
