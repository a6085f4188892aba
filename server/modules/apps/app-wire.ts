import type { App } from '../../../contract/routes/apps.ts';
import type { AppRow } from './app.store.ts';

/** An app as the API shows it whole. */
export function wireApp(row: AppRow): App {
  return {
    _id: row.id,
    appId: row.appId,
    developerId: row.developerId,
    definition: row.definition,
    status: row.status,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

/** An app as lists show it. */
export function wireListedApp(row: AppRow): Pick<App, '_id' | 'appId' | 'definition' | 'status' | 'updatedAt'> {
  const { _id, appId, definition, status, updatedAt } = wireApp(row);
  return { _id, appId, definition, status, updatedAt };
}
