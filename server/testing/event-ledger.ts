import { setTimeout as sleep } from 'node:timers/promises';
import { callApi, pick, pickText } from './start-test-app.ts';
import { startWebhookReceiver, type ReceivedWebhook, type WebhookReceiver } from './webhook-receiver.ts';

const TOOL = 'ledger';
/** Answers that come late, so that some are under way whenever the sender dies, and now and then a failure. */
const SLOWEST_MS = 40;
const FAILING_SHARE = 0.02;
const PAUSE_MS = 5;

/** A service's events, as its publishers and its one subscriber know them. */
export interface EventLedger {
  /** Numbers of the events that were asked for, answered or not. */
  sent: Set<number>;
  /** Numbers whose request was answered: their events must arrive. */
  acknowledged: Set<number>;
  /** Keeps publishing until the service has gone away under every publisher. */
  publish: (url: string) => Promise<void>;
  /** Events that arrived and were answered 200, by number: the ids under which they came, one a delivery. */
  delivered: () => Map<number, string[]>;
  stop: () => Promise<void>;
}

function numberOf({ body }: ReceivedWebhook): number {
  return Number(pick(JSON.parse(body.toString()), 'data', 'input', 'n'));
}

/** Fails no message twice: the third attempt would come after five minutes. */
function startSubscriber(taken: ReceivedWebhook[]): Promise<WebhookReceiver> {
  const failed = new Set<unknown>();
  return startWebhookReceiver({
    answer: (request) => {
      const id = request.headers['webhook-id'];
      if (!failed.has(id) && Math.random() < FAILING_SHARE) {
        failed.add(id);
        return { status: 503 };
      }
      taken.push(request);
      return { status: 200, afterMs: Math.random() * SLOWEST_MS };
    },
  });
}

/** Gives a service a tool on loopback, whose calls are the events, and a subscription to them. */
export async function openEventLedger(service: { url: string }, key: string): Promise<EventLedger> {
  const taken: ReceivedWebhook[] = [];
  const [target, subscriber] = await Promise.all([startWebhookReceiver(), startSubscriber(taken)]);
  const post = (url: string, path: string, body: unknown) => callApi(url, { method: 'POST', path, key, body });
  const execution = { type: 'http', method: 'POST', url: target.url };
  await post(service.url, '/v1/tools', { name: TOOL, description: 'Makes an event.', execution });
  await post(service.url, '/v1/events/webhooks', { event: 'tool.executed', url: subscriber.url, secret: 'ledger' });

  const sent = new Set<number>();
  const acknowledged = new Set<number>();
  const publishOne = async (url: string): Promise<void> => {
    const n = sent.size;
    sent.add(n);
    const { status, body } = await post(url, `/v1/tools/${TOOL}/test`, { input: { n } });
    if (status === 200 && pickText(body, 'status') === 'success') acknowledged.add(n);
    else if (status === 503) await sleep(PAUSE_MS);
    else throw new Error(`publishing gave ${status}: ${JSON.stringify(body)}`);
  };
  return {
    sent,
    acknowledged,
    publish: async (url) => {
      try {
        for (;;) await publishOne(url);
      } catch (error) {
        // fetch reports a connection that broke, or was refused, in this way.
        if (!(error instanceof TypeError)) throw error;
      }
    },
    delivered: () => {
      const byNumber = Map.groupBy(taken, numberOf);
      return new Map(
        [...byNumber].map(([n, requests]) => [n, requests.map(({ headers }) => String(headers['webhook-id']))]),
      );
    },
    stop: async () => {
      await Promise.all([target.stop(), subscriber.stop()]);
    },
  };
}
