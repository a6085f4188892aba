import type { Permission, Tier } from '../../../contract/shared/tiers.ts';
import type { Database, Queryable, Transaction } from '../../platform/db/index.ts';

export interface KeyRow {
  id: string;
  developerId: string;
  start: string;
  name: string;
  permissions: Permission[];
  tier: Tier;
  enabled: boolean;
  createdAt: Date;
}

export interface NewKey {
  id: string;
  developerId: string;
  /** SHA-256, hex. */
  keyHash: string;
  start: string;
  secretHash: string;
  name: string;
  permissions: readonly Permission[];
  tier: Tier;
  isCustom: boolean;
}

const KEY_COLUMNS = `id, developer_id as "developerId", key_start as start, name, permissions, tier, enabled,
  created_at as "createdAt"`;

export async function insertKey(tx: Transaction, key: NewKey): Promise<void> {
  await tx.query({
    text: `insert into api_keys
      (developer_id, id, key_hash, key_start, secret_hash, name, permissions, tier, is_custom)
      values ($1, $2, decode($3, 'hex'), $4, decode($5, 'hex'), $6, $7, $8, $9)`,
    values: [
      key.developerId,
      key.id,
      key.keyHash,
      key.start,
      key.secretHash,
      key.name,
      key.permissions,
      key.tier,
      key.isCustom,
    ],
  });
}

export interface VerifiedKeyRow {
  id: string;
  developerId: string;
  permissions: Permission[];
  tier: Tier;
  isOperator: boolean;
  day: string;
  requestsToday: number;
}

/** A key that may be used, with the count it begins with in this process. `day` is the UTC day of that count. */
export async function findUsableKey(db: Queryable, keyHash: string, day: string): Promise<VerifiedKeyRow | undefined> {
  const { rows } = await db.query<VerifiedKeyRow>({
    name: 'find-usable-key',
    text: `select k.id, k.developer_id as "developerId", k.permissions, k.tier, d.is_operator as "isOperator",
        $2::text as day, coalesce(u.requests, 0)::float8 as "requestsToday"
      from api_keys k
      join developers d on d.id = k.developer_id
      left join usage_counters u on u.developer_id = k.developer_id and u.key_id = k.id and u.day = $2::date
      where k.key_hash = decode($1, 'hex') and k.enabled and d.enabled`,
    values: [keyHash, day],
  });
  return rows[0];
}

export async function listKeys(db: Queryable, developerId: string): Promise<KeyRow[]> {
  const { rows } = await db.query<KeyRow>({
    text: `select ${KEY_COLUMNS} from api_keys where developer_id = $1 order by created_at, id`,
    values: [developerId],
  });
  return rows;
}

/** Switches a key off. Gives its fingerprint (hex), or undefined when the developer has no such key. */
export async function disableKey(tx: Transaction, developerId: string, id: string): Promise<string | undefined> {
  const { rows } = await tx.query<{ keyHash: string }>({
    text: `update api_keys set enabled = false where developer_id = $1 and id = $2
      returning encode(key_hash, 'hex') as "keyHash"`,
    values: [developerId, id],
  });
  return rows[0]?.keyHash;
}

/** Copies a developer's tier to its keys. Gives the fingerprints of all of them. */
export async function setTierOfKeys(tx: Transaction, developerId: string, tier: Tier): Promise<string[]> {
  const { rows } = await tx.query<{ keyHash: string }>({
    text: `update api_keys set tier = $2 where developer_id = $1 returning encode(key_hash, 'hex') as "keyHash"`,
    values: [developerId, tier],
  });
  return rows.map((row) => row.keyHash);
}

/** Fingerprints of keys that were chosen by hand and so cannot be told from junk by their form. */
export async function customKeyHashes(db: Database): Promise<string[]> {
  const { rows } = await db.query<{ keyHash: string }>({
    text: `select encode(key_hash, 'hex') as "keyHash" from api_keys where is_custom and enabled`,
  });
  return rows.map((row) => row.keyHash);
}

/** Whether a key with this fingerprint is known, and whether it is still enabled. */
export async function findKeyState(tx: Transaction, keyHash: string): Promise<{ enabled: boolean } | undefined> {
  const { rows } = await tx.query<{ enabled: boolean }>({
    text: `select enabled from api_keys where key_hash = decode($1, 'hex')`,
    values: [keyHash],
  });
  return rows[0];
}
