import type { EventType } from '../../../contract/events/index.ts';

/** Something that happened, as a module tells it. */
export interface NewEvent {
  developerId: string;
  type: EventType;
  data: Record<string, unknown>;
  /** Given by those who may have to write it twice: the second time changes nothing. Made when absent. */
  id?: string;
  /** How many runs of workflows, each started by an event of the one before, led to it; 0 when absent. */
  depth?: number;
}

/** An event on its way to the listeners. */
export interface OutboxEvent extends NewEvent {
  id: string;
  depth: number;
  createdAt: Date;
}
