import { HIDDEN, type AppDefinition } from '../../../contract/routes/apps.ts';
import type { Seal, SealPlace, Vault } from '../../platform/crypto/index.ts';
import { AppError } from '../../platform/errors/index.ts';
import { hideValues, revealValues, type HiddenValue } from './hidden-values.ts';

/** Sealed texts of a definition, by JSON pointer. */
export type Sealed = Readonly<Record<string, string>>;

interface Owner {
  developerId: string;
  /** apps.id */
  id: string;
}

/** Of what stands at a JSON pointer. */
export function placeOfValue({ developerId, id }: Owner, pointer: string): SealPlace {
  return { purpose: 'app-definition', developerId, row: id, field: pointer };
}

function fieldOf(pointer: string): string {
  const steps = pointer.slice(1).split('/');
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')).join('.');
}

/**
 * Splits a definition into what may be shown and its secrets, sealed. "***" keeps what `before` has at the same place;
 * throws INVALID_REQUEST where there is nothing to keep.
 */
export function sealDefinition(
  seal: Seal,
  owner: Owner,
  { definition, before }: { definition: AppDefinition; before: Sealed },
): { definition: AppDefinition; secrets: Record<string, string> } {
  const { shown, values } = hideValues(definition);
  const sealed: [string, string][] = [];
  for (const [pointer, { value, mustHold }] of values) {
    const kept = Object.hasOwn(before, pointer) ? before[pointer] : undefined;
    if (value !== HIDDEN) sealed.push([pointer, seal(placeOfValue(owner, pointer), JSON.stringify(value))]);
    else if (kept !== undefined) sealed.push([pointer, kept]);
    else if (mustHold) {
      const why = `is "${HIDDEN}", which keeps a stored value, and there is none.`;
      throw new AppError('INVALID_REQUEST', `${fieldOf(pointer)} ${why}`);
    }
  }
  return { definition: asDefinition(shown), secrets: Object.fromEntries(sealed) };
}

/** Safe because hiding replaces scalars, at places whose type the contract leaves open. */
function asDefinition(shown: unknown): AppDefinition {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return shown as AppDefinition;
}

/** The definition as it was given, secrets included. Never for an answer. */
export function openDefinition(
  vault: Vault,
  owner: Owner,
  { definition, secrets }: { definition: AppDefinition; secrets: Sealed },
): AppDefinition {
  const valueAt = (pointer: string): HiddenValue | undefined => {
    const sealed = Object.hasOwn(secrets, pointer) ? secrets[pointer] : undefined;
    return sealed === undefined ? undefined : asHidden(JSON.parse(vault.open(placeOfValue(owner, pointer), sealed)));
  };
  return asDefinition(revealValues(definition, valueAt));
}

/** Safe because only scalars are sealed, and the vault opens nothing that was changed since. */
function asHidden(value: unknown): HiddenValue {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return value as HiddenValue;
}
