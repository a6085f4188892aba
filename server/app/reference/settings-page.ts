import type { SettingsDeclaration } from '../../platform/config/index.ts';
import { page, table } from './table.ts';

const HEAD = ['Name', 'Accepts', 'Default', 'Meaning', 'Secret'];

function section({ title, settings }: SettingsDeclaration): string {
  const rows = Object.entries(settings).map(([name, { accepts, defaultText, doc, isSecret }]) => [
    `\`${name}\``,
    accepts,
    defaultText,
    doc,
    isSecret ? 'yes' : '',
  ]);
  return `## ${title}\n\n${table(HEAD, rows)}`;
}

/** The reference page of every setting. */
export function settingsPage(declarations: readonly SettingsDeclaration[]): string {
  const introduction =
    'Settings are environment variables, read once at start. An empty one counts as absent. The service does not start with a value that it cannot use, and lists all such values at once. Secrets are never printed or logged.';
  return page('Settings', [introduction, ...declarations.map(section)]);
}
