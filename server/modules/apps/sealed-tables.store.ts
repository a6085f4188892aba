import type { RowKey, SealedRow, SealedTable, SealPlace } from '../../platform/crypto/index.ts';
import type { Queryable, Transaction } from '../../platform/db/index.ts';
import { placeOfCredential } from './configure-installation.ts';
import { placeOfHeader } from './publish-version.ts';
import { placeOfValue, type Sealed } from './seal-definition.ts';

/** A table with a column of sealed texts by name. */
interface Source {
  table: string;
  /** Columns of its key, the developer first. */
  key: readonly string[];
  column: string;
  purpose: string;
  placeOf: (key: RowKey, name: string) => SealPlace;
}

interface Row {
  key: RowKey;
  sealed: Sealed;
}

const SOURCES: readonly Source[] = [
  {
    table: 'apps',
    key: ['developer_id', 'id'],
    column: 'secrets',
    purpose: 'app-definition',
    placeOf: ([developerId, id], pointer) =>
      placeOfValue({ developerId: String(developerId), id: String(id) }, pointer),
  },
  {
    table: 'app_versions',
    key: ['developer_id', 'app_key', 'version'],
    column: 'secrets',
    purpose: 'app-version',
    placeOf: ([developerId, appKey, version], name) =>
      placeOfHeader({ developerId: String(developerId), appKey: String(appKey), version: Number(version) }, name),
  },
  {
    table: 'app_installations',
    key: ['developer_id', 'id'],
    column: 'credentials',
    purpose: 'app-credential',
    placeOf: ([developerId, id], name) => placeOfCredential({ developerId: String(developerId), id: String(id) }, name),
  },
];

function placeholders(key: readonly string[]): string {
  return key.map((_, index) => `$${index + 1}`).join(', ');
}

function asTable({ table, key, column, purpose, placeOf }: Source): SealedTable {
  const columns = key.join(', ');
  const row = `json_build_array(${columns}) as key, ${column} as sealed`;
  const page = async (db: Queryable, after: RowKey | undefined, limit: number): Promise<SealedRow[]> => {
    const rest = after ? `and (${columns}) > (${placeholders(key)})` : '';
    const { rows } = await db.query<Row>({
      text: `select ${row} from ${table} where ${column}::text <> '{}' ${rest} order by ${columns} limit ${limit}`,
      values: after ?? [],
    });
    return rows.map((found) => ({ key: found.key, sealed: Object.values(found.sealed) }));
  };
  const rewrite: SealedTable['rewrite'] = async (tx: Transaction, keyOfRow, renew) => {
    const match = `(${columns}) = (${placeholders(key)})`;
    const { rows } = await tx.query<Row>({
      text: `select ${row} from ${table} where ${match} for update`,
      values: keyOfRow,
    });
    const [found] = rows;
    if (!found) return;
    const renewed = Object.entries(found.sealed).map(([name, sealed]): [string, string] => [
      name,
      renew(placeOf(keyOfRow, name), sealed),
    ]);
    await tx.query({
      text: `update ${table} set ${column} = $${key.length + 1} where ${match}`,
      values: [...keyOfRow, JSON.stringify(Object.fromEntries(renewed))],
    });
  };
  return { name: table, purposes: [purpose], page, rewrite };
}

/** Where apps and installations keep what is sealed. */
export const appTables: readonly SealedTable[] = SOURCES.map(asTable);
