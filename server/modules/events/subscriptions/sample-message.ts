import { EVENTS, type EventType } from '../../../../contract/events/index.ts';
import { exampleOf } from '../../../../contract/shared/example-of.ts';
import { asJsonSchema } from '../../../../contract/shared/json-schema.ts';
import { createId } from '../../../platform/ids/index.ts';
import type { Message } from '../deliveries/delivery.ts';

/** A message of an event that never happened, with the examples of its contract as data. */
export function sampleMessage(event: EventType, nowMs: number): Message {
  const createdAt = new Date(nowMs);
  const contract = EVENTS.find(({ type }) => type === event);
  const data = (contract && exampleOf(asJsonSchema(contract.data))) ?? {};
  return {
    id: createId('evt', nowMs),
    event,
    body: JSON.stringify({ event, timestamp: createdAt.toISOString(), data }),
    createdAt,
  };
}
