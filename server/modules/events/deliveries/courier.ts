import type { Logger } from 'pino';
import { createGroupWriter, Listener, type Database } from '../../../platform/db/index.ts';
import { errorMessage } from '../../../platform/errors/index.ts';
import { claimDue, findDueLanes, releaseDeliveries, type LaneKey } from './claim.store.ts';
import type { Attempt, Consignment } from './delivery.ts';
import type { Carrier } from './fan-out.ts';
import { HeldLanes } from './held-lanes.ts';
import { Lane, type WaitingMeter } from './lane.ts';
import type { Outcome } from './outcome.store.ts';
import type { SendMessage } from './send-message.ts';
import { outcomeOf, settleOutcomes } from './settle-outcomes.ts';

const CHANNEL = 'webhook_deliveries';
/** How often deliveries that fall due are looked for. */
const SWEEP_MS = 1000;
/** Attempts under way at once, of all lanes. */
const MAX_UNDER_WAY = 1000;
/** And of one developer, so that nobody's receivers can hang everybody's deliveries. */
const MAX_UNDER_WAY_OF_ONE = 250;
/** Deliveries of a lane that are fetched at once. */
const MAX_FETCHED = 256;
/** Attempts under way get this long to end when the process stops. */
const STOP_GRACE_MS = 3000;

export interface CourierOptions {
  database: Database;
  url: string;
  send: SendMessage;
  log: Logger;
  /** Told of every attempt. */
  onAttempt: (attempt: Attempt) => void;
}

/** Sends deliveries, each subscription in a lane of its own. */
export interface Courier extends Carrier {
  /** Lets attempts under way end, gives back what waits, writes outcomes down. */
  stop: () => Promise<void>;
}

class LaneCourier implements Courier {
  readonly #options: CourierOptions;
  readonly #lanes = new Map<string, Lane>();
  readonly #waiting: WaitingMeter = { length: 0 };
  readonly #held = new HeldLanes();
  /** Attempts under way, by developer. */
  readonly #counts = new Map<string, number>();
  readonly #outcomes: ReturnType<typeof createGroupWriter<Outcome>>;
  readonly #listener: Listener;
  readonly #stopping = new AbortController();
  readonly #underWay = new Set<Promise<void>>();
  #fetch: Promise<void> | undefined;
  #mustSweep = false;
  #sweepTimer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(options: CourierOptions) {
    this.#options = options;
    const { database, url, log } = options;
    this.#outcomes = createGroupWriter<Outcome>({
      write: async (outcomes) => {
        for (const lane of await settleOutcomes(database, outcomes)) this.#lanes.get(lane.subscriptionId)?.clear();
      },
      maxItems: 500,
      maxDelayMs: 0,
      maxQueued: 100_000,
      log,
    });
    const sweep = (): void => this.#sweep();
    this.#listener = new Listener({ url, channel: CHANNEL, log, onNotification: sweep, onUp: sweep });
  }

  async start(): Promise<void> {
    await this.#listener.open();
    this.#sweepTimer = setInterval(() => this.#sweep(), SWEEP_MS);
  }

  room(key: LaneKey): number {
    return this.#isStopped ? 0 : this.#lane(key).room;
  }

  take(consignments: readonly Consignment[]): void {
    const nowMs = performance.now();
    const touched = new Set<Lane>();
    for (const consignment of consignments) {
      const lane = this.#lane(consignment.destination);
      lane.add(consignment, nowMs);
      touched.add(lane);
    }
    for (const lane of touched) this.#pump(lane);
  }

  leave(developerId: string, subscriptionId: string): void {
    const lane = this.#lane({ developerId, subscriptionId });
    lane.hasMore = true;
    this.#pump(lane);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#sweepTimer);
    await this.#listener.close();
    await this.#fetch;
    const waiting = [...this.#lanes.values()].flatMap((lane) => lane.clear());
    const timer = setTimeout(() => this.#stopping.abort(), STOP_GRACE_MS);
    await Promise.all([this.#giveBack(waiting), ...this.#underWay]);
    clearTimeout(timer);
    await this.#outcomes.close();
  }

  #lane({ developerId, subscriptionId }: LaneKey): Lane {
    const known = this.#lanes.get(subscriptionId);
    if (known) return known;
    const lane = new Lane({ developerId, subscriptionId }, this.#waiting);
    this.#lanes.set(subscriptionId, lane);
    return lane;
  }

  /** Begins what a lane may have under way. */
  #pump(lane: Lane): void {
    while (!this.#isStopped) {
      if (!this.#hasRoom(lane.key.developerId)) {
        this.#held.add(lane);
        return;
      }
      const consignment = lane.next(performance.now());
      if (!consignment) break;
      this.#begin(lane, consignment);
    }
    if (lane.wantsMore) this.#fetchSoon();
    this.#forgetIfIdle(lane);
  }

  #forgetIfIdle(lane: Lane): void {
    if (lane.isIdle(performance.now())) this.#lanes.delete(lane.key.subscriptionId);
  }

  readonly #hasRoom = (developerId: string): boolean =>
    this.#underWay.size < MAX_UNDER_WAY && (this.#counts.get(developerId) ?? 0) < MAX_UNDER_WAY_OF_ONE;

  #begin(lane: Lane, consignment: Consignment): void {
    const { developerId } = lane.key;
    this.#counts.set(developerId, (this.#counts.get(developerId) ?? 0) + 1);
    const attempt = this.#attempt(lane, consignment).finally(() => {
      this.#underWay.delete(attempt);
      const left = (this.#counts.get(developerId) ?? 1) - 1;
      if (left === 0) this.#counts.delete(developerId);
      else this.#counts.set(developerId, left);
      this.#continue(lane);
    });
    this.#underWay.add(attempt);
  }

  /** After an attempt has ended: who was held goes first, or the lane itself would take what it gave every time. */
  #continue(lane: Lane): void {
    for (let held = this.#held.take(this.#hasRoom); held; held = this.#held.take(this.#hasRoom)) this.#pump(held);
    this.#pump(lane);
  }

  /** Never rejects. */
  async #attempt(lane: Lane, consignment: Consignment): Promise<void> {
    const { send, onAttempt } = this.#options;
    try {
      const attempt = await send(consignment.destination, consignment.message, this.#stopping.signal);
      lane.ended({ hasSucceeded: attempt.error === null, durationMs: attempt.durationMs }, performance.now());
      onAttempt(attempt);
      // An outcome that cannot be written is logged there; the lease then runs out and the delivery falls due again.
      this.#outcomes.enqueue(outcomeOf(consignment, attempt, Math.random()));
    } catch {
      // Given up by a stop: as if it had not begun.
      lane.ended({ hasSucceeded: true, durationMs: 0 }, performance.now());
      await this.#giveBack([consignment]);
    }
  }

  async #giveBack(consignments: readonly Consignment[]): Promise<void> {
    if (consignments.length === 0) return;
    await releaseDeliveries(this.#options.database, consignments).catch((error: unknown) => {
      this.#options.log.warn({ err: error }, `deliveries wait for their lease to end: ${errorMessage(error)}`);
    });
  }

  #sweep(): void {
    this.#mustSweep = true;
    this.#fetchSoon();
  }

  #fetchSoon(): void {
    if (this.#isStopped) return;
    this.#fetch ??= this.#fetchAll().finally(() => (this.#fetch = undefined));
  }

  /** Fetches for lanes that want more until none does. Never rejects: the next sweep tries again. */
  async #fetchAll(): Promise<void> {
    try {
      // A turn of the loop, so that what is asked for together is fetched together.
      await Promise.resolve();
      while (!this.#isStopped && (this.#mustSweep || this.#wanting().length > 0)) {
        if (this.#mustSweep) await this.#findDue();
        await this.#claim();
      }
    } catch (error) {
      this.#options.log.warn({ err: error }, `deliveries wait: ${errorMessage(error)}`);
    }
  }

  #wanting(): Lane[] {
    return [...this.#lanes.values()].filter((lane) => lane.wantsMore && lane.room > 0);
  }

  async #findDue(): Promise<void> {
    this.#mustSweep = false;
    for (const lane of this.#lanes.values()) this.#forgetIfIdle(lane);
    for (const key of await findDueLanes(this.#options.database)) this.#lane(key).hasMore = true;
  }

  async #claim(): Promise<void> {
    const lanes = this.#wanting();
    if (lanes.length === 0) return;
    const asked = lanes.map((lane) => ({ lane, ...lane.key, room: Math.min(lane.room, MAX_FETCHED) }));
    const claimed = await claimDue(this.#options.database, asked);
    const counts = Map.groupBy(claimed, ({ destination }) => destination.subscriptionId);
    for (const { lane, room } of asked) lane.hasMore = (counts.get(lane.key.subscriptionId)?.length ?? 0) >= room;
    this.take(claimed);
  }
}

/** Starts sending what is due now and whatever falls due later. */
export async function startCourier(options: CourierOptions): Promise<Courier> {
  const courier = new LaneCourier(options);
  await courier.start();
  return courier;
}
