import { createId } from '../../../platform/ids/index.ts';
import { matchesFilter, type EventListener, type OutboxEvent } from '../../../platform/outbox/index.ts';
import type { LaneKey } from './claim.store.ts';
import type { Consignment, Message } from './delivery.ts';
import { addDeliveries, findSubscribers, type Subscriber } from './fan-out.store.ts';

/** Whoever sends, as fan-out sees them. */
export interface Carrier {
  /** How many more deliveries of a subscription could be taken on at once. */
  room: (lane: LaneKey) => number;
  /** Takes deliveries on, which were leased to this process. */
  take: (consignments: readonly Consignment[]) => void;
  /** Told of a subscription that has deliveries due which nobody was given. */
  leave: (developerId: string, subscriptionId: string) => void;
}

/** The body that is sent and signed. */
function messageOf({ id, type, data, createdAt }: OutboxEvent): Message {
  const body = JSON.stringify({ event: type, timestamp: createdAt.toISOString(), data });
  return { id, event: type, body, createdAt };
}

function groupByTopic(subscribers: readonly Subscriber[]): Map<string, Subscriber[]> {
  return Map.groupBy(subscribers, ({ developerId, event }) => `${developerId} ${event}`);
}

/** What a batch of events becomes: a message for each that is wanted, and a delivery for each that wants it. */
function planOf(events: readonly OutboxEvent[], subscribers: readonly Subscriber[]) {
  const byTopic = groupByTopic(subscribers);
  const messages: (Message & { developerId: string })[] = [];
  const consignments: Consignment[] = [];
  for (const event of events) {
    const { developerId, type, data } = event;
    const wanting = (byTopic.get(`${developerId} ${type}`) ?? []).filter(({ filter }) => matchesFilter(filter, data));
    if (wanting.length === 0) continue;
    const message = messageOf(event);
    messages.push({ developerId, ...message });
    for (const destination of wanting) {
      consignments.push({ id: createId('dlv'), destination, message, attemptCount: 0 });
    }
  }
  return { messages, consignments };
}

/** Parts what the carrier has room for from what has to wait to be found. */
function shareOut(consignments: readonly Consignment[], carrier: Carrier) {
  const rooms = new Map<string, number>();
  const taken = new Set<Consignment>();
  for (const consignment of consignments) {
    const { subscriptionId } = consignment.destination;
    const room = rooms.get(subscriptionId) ?? carrier.room(consignment.destination);
    if (room > 0) taken.add(consignment);
    rooms.set(subscriptionId, room - 1);
  }
  return taken;
}

/**
 * Turns events into deliveries, in the transaction that notes them as handed over: a delivery exists if and only if its
 * event does. Most are handed to the carrier of this process after the commit, without a further look at the database.
 */
export function createFanOut(carrier: Carrier): EventListener {
  return async (tx, events) => {
    const subscribers = await findSubscribers(tx, events);
    const { messages, consignments } = planOf(events, subscribers);
    if (consignments.length === 0) return undefined;
    const taken = shareOut(consignments, carrier);
    await addDeliveries(
      tx,
      messages,
      consignments.map((consignment) => ({
        id: consignment.id,
        developerId: consignment.destination.developerId,
        subscriptionId: consignment.destination.subscriptionId,
        messageId: consignment.message.id,
        isTaken: taken.has(consignment),
      })),
    );
    return () => {
      carrier.take([...taken]);
      for (const consignment of consignments) {
        const { developerId, subscriptionId } = consignment.destination;
        if (!taken.has(consignment)) carrier.leave(developerId, subscriptionId);
      }
    };
  };
}
