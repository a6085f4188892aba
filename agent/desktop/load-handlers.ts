import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Check } from 'typebox/value';
import { Handler } from '../../contract/agent/protocol.ts';
import { AGENT_LIMITS } from '../../contract/agent/limits.ts';
import type { LoadedHandler } from './handler.ts';

const MODULE = /(?<!\.test|\.d)\.(?:js|mjs|ts|mts)$/;
const ANY_INPUT = { type: 'object' };

/** What a folder holds: handlers, and a sentence on every module that is none. */
export interface LoadedFolder {
  handlers: LoadedHandler[];
  problems: string[];
}

type Run = LoadedHandler['run'];

function isFunction(value: unknown): value is Run {
  return typeof value === 'function';
}

function handlerOf(exported: ReadonlyMap<string, unknown>): LoadedHandler {
  const [name, run] = [exported.get('name'), exported.get('run')];
  const description = exported.get('description') ?? '';
  const handler = { name, description, input_schema: exported.get('input_schema') ?? ANY_INPUT };
  if (!isFunction(run)) throw new Error('it exports no function "run"');
  if (typeof name !== 'string') throw new Error('it exports no text "name"');
  if (!Check(Handler, handler)) throw new Error('its name, description or input_schema is not usable');
  return { ...handler, run };
}

async function loadModule(file: string): Promise<LoadedHandler> {
  const exported: unknown = await import(pathToFileURL(file).href);
  return handlerOf(new Map(Object.entries(exported ?? {})));
}

/**
 * Loads every module of a folder, by name: `name`, `description`, `input_schema` and `run(input, {signal})`. One that
 * cannot be used is told of, and the others are loaded all the same. Rejects when the folder cannot be read.
 */
export async function loadHandlers(folder: string): Promise<LoadedFolder> {
  const files = (await readdir(folder)).filter((file) => MODULE.test(file)).toSorted();
  const handlers = new Map<string, LoadedHandler>();
  const problems: string[] = [];
  for (const file of files) {
    try {
      const handler = await loadModule(join(resolve(folder), file));
      if (handlers.has(handler.name)) throw new Error(`another module has the name "${handler.name}"`);
      if (handlers.size === AGENT_LIMITS.handlers) throw new Error(`there are ${AGENT_LIMITS.handlers} already`);
      handlers.set(handler.name, handler);
    } catch (error) {
      problems.push(`${file} is left out: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { handlers: [...handlers.values()], problems };
}
