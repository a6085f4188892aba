import type { Database, Queryable, Transaction } from '../db/index.ts';
import { errorMessage } from '../errors/index.ts';
import { VaultError, type SealPlace, type Vault } from './vault.ts';

/** Rows looked at in one go. */
const PAGE = 500;

/** Values of the columns that a table is ordered by. */
export type RowKey = readonly (string | number)[];

export interface SealedRow {
  key: RowKey;
  sealed: readonly string[];
}

/** A table that holds sealed texts. */
export interface SealedTable {
  name: string;
  /** Of the texts in it. */
  purposes: readonly string[];
  /** Rows that hold sealed texts, of all developers, in order; after the one of that key. */
  page: (db: Queryable, after: RowKey | undefined, limit: number) => Promise<SealedRow[]>;
  /** Writes what `renew` gives for each sealed text of a row, which is locked; one that is gone is passed over. */
  rewrite: (tx: Transaction, key: RowKey, renew: (place: SealPlace, sealed: string) => string) => Promise<void>;
}

export interface ResealOutcome {
  /** Rows that were sealed anew. */
  resealed: number;
  /** Why rows could not be; without a secret. */
  failures: string[];
}

/** Whether a text has to be sealed anew; what is no sealed text counts, so that it is told of. */
function isStale(vault: Vault, sealed: string): boolean {
  try {
    return !vault.isPresent(sealed);
  } catch (error) {
    if (error instanceof VaultError) return true;
    throw error;
  }
}

async function resealRow(database: Database, vault: Vault, row: { table: SealedTable; key: RowKey }): Promise<void> {
  // A transaction for each row: no writer waits for more than one of them.
  await database.transaction(async (tx) => {
    const seal = await vault.sealer(tx);
    await row.table.rewrite(tx, row.key, (place, sealed) =>
      isStale(vault, sealed) ? seal(place, vault.open(place, sealed)) : sealed,
    );
  });
}

async function resealTable(database: Database, vault: Vault, table: SealedTable): Promise<ResealOutcome> {
  const outcome: ResealOutcome = { resealed: 0, failures: [] };
  for (let after: RowKey | undefined; ;) {
    const rows = await table.page(database, after, PAGE);
    for (const { key } of rows.filter(({ sealed }) => sealed.some((text) => isStale(vault, text)))) {
      try {
        await resealRow(database, vault, { table, key });
        outcome.resealed++;
      } catch (error) {
        if (!(error instanceof VaultError)) throw error;
        outcome.failures.push(`${table.name} ${key.join(' ')}: ${errorMessage(error)}`);
      }
    }
    after = rows.at(-1)?.key;
    if (rows.length < PAGE) return outcome;
  }
}

/** Seals anew, under the present key, whatever is sealed under another. Interrupted anywhere, it can be run again. */
export async function resealAll(
  database: Database,
  vault: Vault,
  tables: readonly SealedTable[],
): Promise<ResealOutcome> {
  const total: ResealOutcome = { resealed: 0, failures: [] };
  for (const table of tables) {
    const { resealed, failures } = await resealTable(database, vault, table);
    total.resealed += resealed;
    total.failures.push(...failures);
  }
  return total;
}
