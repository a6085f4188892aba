import type { ToolPack } from '../../../../contract/routes/tool-packs.ts';
import type { PackRow } from './pack.store.ts';

/** A tool pack as the API shows it whole. */
export function wirePack(row: PackRow): ToolPack {
  const { id, packId, name, nameZh, description, tools, knowledge, status, createdAt } = row;
  return { _id: id, packId, name, nameZh, description, tools, knowledge, status, createdAt: createdAt.toISOString() };
}

/** A tool pack as lists show it. */
export function wireListedPack(
  row: PackRow,
): Pick<ToolPack, '_id' | 'packId' | 'name' | 'nameZh' | 'tools' | 'status'> {
  const { id, packId, name, nameZh, tools, status } = row;
  return { _id: id, packId, name, nameZh, tools, status };
}
