import type { SealedTable } from '../../../platform/crypto/index.ts';
import { placeOfSecret } from './webhook-secret.ts';

interface Row {
  developerId: string;
  id: string;
  secret: string | null;
  previousSecret: string | null;
}

const ROW = 'developer_id as "developerId", id, secret, previous_secret as "previousSecret"';

const subscriptions: SealedTable = {
  name: 'webhook_subscriptions',
  purposes: ['webhook-secret'],
  page: async (db, after = ['', ''], limit) => {
    const { rows } = await db.query<Row>({
      text: `select ${ROW} from webhook_subscriptions
        where (secret is not null or previous_secret is not null) and (developer_id, id) > ($1, $2)
        order by developer_id, id limit $3`,
      values: [...after, limit],
    });
    return rows.map(({ developerId, id, secret, previousSecret }) => ({
      key: [developerId, id],
      sealed: [secret, previousSecret].filter((sealed) => sealed !== null),
    }));
  },
  rewrite: async (tx, key, renew) => {
    const { rows } = await tx.query<Row>({
      text: `select ${ROW} from webhook_subscriptions where developer_id = $1 and id = $2 for no key update`,
      values: key,
    });
    const [found] = rows;
    if (!found) return;
    const [secret, previousSecret] = [found.secret, found.previousSecret].map((sealed) =>
      sealed === null ? null : renew(placeOfSecret(found), sealed),
    );
    await tx.query({
      text: `update webhook_subscriptions set secret = $3, previous_secret = $4 where developer_id = $1 and id = $2`,
      values: [...key, secret, previousSecret],
    });
  },
};

/** Where webhooks keep what is sealed. */
export const eventTables: readonly SealedTable[] = [subscriptions];
