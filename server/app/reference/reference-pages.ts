import { DECLARATIONS } from '../settings.ts';
import { apiPage } from './api-page.ts';
import { errorsPage } from './errors-page.ts';
import { readContracts } from './read-contracts.ts';
import { settingsPage } from './settings-page.ts';

/** Where the pages are kept. */
export const REFERENCE = new URL('../../../docs/reference/', import.meta.url);

/** The generated pages, by file name. */
export async function referencePages(): Promise<Record<string, string>> {
  const contracts = await readContracts();
  return {
    'api.md': apiPage(contracts),
    'errors.md': errorsPage(contracts),
    'settings.md': settingsPage(DECLARATIONS),
  };
}
