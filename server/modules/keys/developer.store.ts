import type { Tier } from '../../../contract/shared/tiers.ts';
import { prepared, type Queryable, type Transaction } from '../../platform/db/index.ts';

export interface DeveloperRow {
  id: string;
  name: string;
  tier: Tier;
  enabled: boolean;
  isOperator: boolean;
  createdAt: Date;
}

const COLUMNS = `id, name, tier, enabled, is_operator as "isOperator", created_at as "createdAt"`;

const selectEnabled = prepared(`select ${COLUMNS} from developers where id = $1 and enabled`);

export interface NewDeveloper {
  id: string;
  name: string;
  tier: Tier;
  isOperator: boolean;
}

export async function insertDeveloper(tx: Transaction, developer: NewDeveloper): Promise<void> {
  await tx.query({
    text: 'insert into developers (id, name, tier, is_operator) values ($1, $2, $3, $4)',
    values: [developer.id, developer.name, developer.tier, developer.isOperator],
  });
}

/** The first developer, if there is one yet. Locks out other starters until the transaction ends. */
export async function findOperator(tx: Transaction): Promise<DeveloperRow | undefined> {
  await tx.query({ text: 'lock table developers in share row exclusive mode' });
  const { rows } = await tx.query<DeveloperRow>({ text: `select ${COLUMNS} from developers where is_operator` });
  return rows[0];
}

export interface DeveloperPage {
  rows: DeveloperRow[];
  total: number;
}

/** Developers with ids after `after`, oldest first: ids are made in time order. */
export async function listDevelopers(db: Queryable, after: string, limit: number): Promise<DeveloperPage> {
  const [page, count] = await Promise.all([
    db.query<DeveloperRow>({
      text: `select ${COLUMNS} from developers where id > $1 order by id limit $2`,
      values: [after, limit],
    }),
    db.query<{ total: number }>({ text: 'select count(*)::int as total from developers' }),
  ]);
  return { rows: page.rows, total: count.rows[0]?.total ?? 0 };
}

export async function lockDeveloper(tx: Transaction, id: string): Promise<DeveloperRow | undefined> {
  const { rows } = await tx.query<DeveloperRow>({
    text: `select ${COLUMNS} from developers where id = $1 for update`,
    values: [id],
  });
  return rows[0];
}

/** The tier of a developer, which cannot change until the transaction ends. */
export async function keepTier(tx: Transaction, id: string): Promise<Tier | undefined> {
  const { rows } = await tx.query<{ tier: Tier }>({
    text: 'select tier from developers where id = $1 for share',
    values: [id],
  });
  return rows[0]?.tier;
}

export async function saveDeveloper(tx: Transaction, { id, tier, enabled }: DeveloperRow): Promise<void> {
  await tx.query({
    text: 'update developers set tier = $2, enabled = $3 where id = $1',
    values: [id, tier, enabled],
  });
}

/** A developer who is not switched off. */
export async function findEnabledDeveloper(db: Queryable, id: string): Promise<DeveloperRow | undefined> {
  const { rows } = await db.query<DeveloperRow>(selectEnabled([id]));
  return rows[0];
}
