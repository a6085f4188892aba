// Settings from the environment: declared once by the module that reads them, parsed together at start.
// Used by app (parses, generates the reference page) and by every `*.settings.ts`.
// Must not know any particular setting.
export { boolean, integer, list, oneOf, secret, text, url } from './setting.ts';
export { declareSettings, readSettings, type SettingsOf, type SettingsDeclaration } from './read-settings.ts';
export { Secret } from './secret.ts';
