import type { EdgeColumns, NodeColumns, PendingColumns } from '../store/write-items.ts';

/** What a sync has to do next, as columns for one statement. */
export type SyncStep =
  /** Gives words their numbers; the reply is those of the relations, in order. */
  | { kind: 'words'; types: string[]; relations: string[] }
  | { kind: 'nodes'; columns: NodeColumns }
  /** Connects pending edges; all of them, when references is null. */
  | { kind: 'connect'; references: string | null }
  /** Finds the nodes of references; the reply is their numbers, in order. */
  | { kind: 'resolve'; references: string }
  | { kind: 'edges'; columns: EdgeColumns }
  | { kind: 'pending'; columns: PendingColumns }
  /** Refuses a reference that several nodes have as their name. */
  | { kind: 'ambiguous'; field: string; reference: string };

/** Numbers that a step asked for; empty for the others. */
export type SyncReply = readonly number[];

/** How many items of a body were stored. */
export interface SyncCounts {
  nodesWritten: number;
  edgesWritten: number;
}

/** The steps of one body, in order. */
export interface StepSource {
  next: (reply: SyncReply) => Promise<IteratorResult<SyncStep, SyncCounts>>;
  close: () => Promise<void>;
}
