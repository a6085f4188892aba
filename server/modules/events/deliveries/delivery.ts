import type { EventType } from '../../../../contract/events/index.ts';

/** Everything that sending needs to know of a subscription. Secrets are sealed. */
export interface Destination {
  developerId: string;
  subscriptionId: string;
  url: string;
  secret: string | null;
  previousSecret: string | null;
  previousSecretUntil: Date | null;
}

/** An event as it is sent: the same bytes in every attempt and for every subscription. */
export interface Message {
  /** The id of the event; `webhook-id` of every attempt. */
  id: string;
  event: EventType;
  body: string;
  createdAt: Date;
}

/** A delivery that this process has taken on. */
export interface Consignment {
  id: string;
  destination: Destination;
  message: Message;
  /** Attempts of the present schedule so far. */
  attemptCount: number;
}

/** How one attempt ended. It succeeded when status is from 200 to 299 and there is no error. */
export interface Attempt {
  /** ISO 8601. */
  at: string;
  /** Of the answer; null when none came. */
  status: number | null;
  durationMs: number;
  /** How the body of the answer begins, at most 1 kB; null when none came. */
  answer: string | null;
  /** Why no answer came or it was not acceptable; null for a success. */
  error: string | null;
}

/** From here on nobody else takes a delivery on for this long, in seconds; whoever vanishes with it has had its time. */
export const LEASE_SECONDS = 30;
