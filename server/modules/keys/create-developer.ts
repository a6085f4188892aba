import type { createDeveloper as contract } from '../../../contract/routes/admin.ts';
import type { RouteInput, RouteOutput } from '../../../contract/shared/route.ts';
import { PERMISSIONS } from '../../../contract/shared/tiers.ts';
import type { Database } from '../../platform/db/index.ts';
import { createId } from '../../platform/ids/index.ts';
import { createKey } from './create-key.ts';
import { insertDeveloper } from './developer.store.ts';

const FIRST_KEY_NAME = 'First Key';

type Input = RouteInput<typeof contract>['body'];

/** Creates a developer and its first key, which holds every permission over the developer's own resources. */
export async function createDeveloper(
  db: Database,
  { name, tier = 'free' }: Input,
): Promise<RouteOutput<typeof contract>> {
  const id = createId('dev');
  return db.transaction(async (tx) => {
    await insertDeveloper(tx, { id, name, tier, isOperator: false });
    const apiKey = await createKey(tx, { developerId: id, tier, name: FIRST_KEY_NAME, permissions: PERMISSIONS });
    return { id, name, tier, apiKey };
  });
}
