import { errorMessage } from '../errors/index.ts';
import type { Setting } from './setting.ts';

/** The settings of one module, by their names in the environment. */
export interface SettingsDeclaration<S extends Record<string, Setting<unknown>> = Record<string, Setting<unknown>>> {
  /** Heading on the reference page. */
  title: string;
  settings: S;
}

/** The parsed values of a declaration, under the same names. */
export type SettingsOf<D> =
  D extends SettingsDeclaration<infer S> ? { readonly [K in keyof S]: ReturnType<S[K]['parse']> } : never;

export function declareSettings<S extends Record<string, Setting<unknown>>>(
  title: string,
  settings: S,
): SettingsDeclaration<S> {
  return { title, settings };
}

/**
 * Parses a declaration against an environment. Mistakes are pushed to `mistakes`, one line each that names the
 * setting, so that a caller can read several declarations and report everything at once.
 */
export function readSettings<S extends Record<string, Setting<unknown>>>(
  declaration: SettingsDeclaration<S>,
  env: NodeJS.ProcessEnv,
  mistakes: string[],
): SettingsOf<SettingsDeclaration<S>> {
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(declaration.settings)) {
    try {
      values[name] = setting.parse(env[name]);
    } catch (error) {
      mistakes.push(`${name} ${errorMessage(error)}`);
    }
  }
  return asSettings<S>(values);
}

/** Safe because every name of the declaration was parsed by its own setting, or its mistake ends the start. */
function asSettings<S extends Record<string, Setting<unknown>>>(
  values: Record<string, unknown>,
): SettingsOf<SettingsDeclaration<S>> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return values as SettingsOf<SettingsDeclaration<S>>;
}
