import type { Transaction } from '../../platform/db/index.ts';
import { AppError } from '../../platform/errors/index.ts';
import { countTools, sizeOfTools, type ToolRow } from './tool.store.ts';

/** All tools of a developer are held in memory together. */
const MAX_TOOLS = 10_000;
const MAX_BYTES = 64 * 1024 * 1024;
/** So many small ones always fit; only larger ones are added up. */
const SMALL = MAX_BYTES / MAX_TOOLS / 2;

function lengthOf({ description, inputSchema, execution }: ToolRow): number {
  return description.length + JSON.stringify([inputSchema, execution]).length;
}

/** Refuses a write, when it has been made, with which a developer has too many tools, or too large ones. */
export async function demandRoom(tx: Transaction, written: { row: ToolRow; isNew: boolean }): Promise<void> {
  const { developerId } = written.row;
  if (written.isNew && (await countTools(tx, developerId)) > MAX_TOOLS) {
    throw new AppError('CONFLICT', `There are ${MAX_TOOLS} tools already; delete one first.`);
  }
  if (lengthOf(written.row) > SMALL && (await sizeOfTools(tx, developerId)) > MAX_BYTES) {
    const shown = `${MAX_BYTES / 1024 / 1024} MB`;
    throw new AppError('CONFLICT', `The tools would be larger than ${shown} together; delete one first.`);
  }
}
