import { prepared, type Queryable } from '../../../platform/db/index.ts';

export interface PackRow {
  id: string;
  developerId: string;
  packId: string;
  name: string;
  nameZh: string;
  description: string;
  /** Names, whether or not such tools exist. */
  tools: string[];
  knowledge: string;
  status: 'draft' | 'published';
  createdAt: Date;
}

export interface PackKey {
  developerId: string;
  packId: string;
}

/** What a change may replace. */
export type PackChange = Partial<Pick<PackRow, 'name' | 'nameZh' | 'description' | 'tools' | 'knowledge' | 'status'>>;

const COLUMNS = `id, developer_id as "developerId", pack_id as "packId", name, name_zh as "nameZh", description, tools,
  knowledge, status, created_at as "createdAt"`;

/** Inserts a pack; undefined when its id is taken. */
export async function insertPack(
  db: Queryable,
  pack: Omit<PackRow, 'status' | 'createdAt'>,
): Promise<PackRow | undefined> {
  const { developerId, packId, id, name, nameZh, description, tools, knowledge } = pack;
  const { rows } = await db.query<PackRow>({
    text: `insert into tool_packs (developer_id, pack_id, id, name, name_zh, description, tools, knowledge)
      values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing returning ${COLUMNS}`,
    values: [developerId, packId, id, name, nameZh, description, tools, knowledge],
  });
  return rows[0];
}

/** Replaces what is given in one statement; undefined when there is no such pack. */
export async function changePack(
  db: Queryable,
  { developerId, packId }: PackKey,
  change: PackChange,
): Promise<PackRow | undefined> {
  const { name, nameZh, description, tools, knowledge, status } = change;
  const { rows } = await db.query<PackRow>({
    text: `update tool_packs set name = coalesce($3, name), name_zh = coalesce($4, name_zh),
        description = coalesce($5, description), tools = coalesce($6, tools), knowledge = coalesce($7, knowledge),
        status = coalesce($8, status)
      where developer_id = $1 and pack_id = $2 returning ${COLUMNS}`,
    values: [developerId, packId, name, nameZh, description, tools, knowledge, status],
  });
  return rows[0];
}

/** Whether there was such a pack. */
export async function removePack(db: Queryable, { developerId, packId }: PackKey): Promise<boolean> {
  const { rowCount } = await db.query({
    text: 'delete from tool_packs where developer_id = $1 and pack_id = $2',
    values: [developerId, packId],
  });
  return rowCount > 0;
}

const selectSome = prepared(
  `select ${COLUMNS} from tool_packs where developer_id = $1 and pack_id = any($2::text[])
    order by array_position($2::text[], pack_id)`,
);

/** Those of the named packs that exist, in the order in which they are named. */
export async function packsByIds(db: Queryable, developerId: string, packIds: readonly string[]): Promise<PackRow[]> {
  return (await db.query<PackRow>(selectSome([developerId, packIds]))).rows;
}

/** Packs in order of id, after that id where one is given. */
export async function packsAfter(
  db: Queryable,
  developerId: string,
  { after = '', limit }: { after?: string | undefined; limit?: number | undefined },
): Promise<PackRow[]> {
  const { rows } = await db.query<PackRow>({
    text: `select ${COLUMNS} from tool_packs where developer_id = $1 and pack_id > $2 order by pack_id limit $3`,
    values: [developerId, after, limit],
  });
  return rows;
}
