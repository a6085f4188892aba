import { setTimeout as sleep } from 'node:timers/promises';
import { startMailServer, type MailServer } from './start-mail-server.ts';
import { startScriptedVendor, type ScriptedVendor } from './scripted-vendor.ts';
import { callApi, pick, pickText } from './start-test-app.ts';
import { startWebhookReceiver, type ReceivedWebhook, type WebhookReceiver } from './webhook-receiver.ts';

/** Answers that come late, so that some steps are under way whenever the service dies, and now and then a failure. */
const SLOWEST_MS = 40;
const FAILING_SHARE = 0.02;
/** Between two runs that one publisher asks for. */
const PAUSE_MS = 40;

/** Something that a step did to the world: which step of which run, by which attempt where it says so, and when. */
export interface Effect {
  step: 'call' | 'tool' | 'ask' | 'mail' | 'after';
  /** The number of the run; of `after`, the id of the run that it comes after. */
  of: string;
  attemptId: string | undefined;
  atMs: number;
}

/** The runs of a service as those know them who ask for them and those whom their steps reach. */
export interface RunLedger {
  workflowId: string;
  afterId: string;
  cronId: string;
  /** Numbers of the runs that were asked for, answered or not. */
  sent: Set<number>;
  /** Ids of the runs whose request was answered, with their numbers. */
  accepted: Map<string, number>;
  /** Keeps asking for runs until the service has gone away under every publisher. */
  publish: (url: string) => Promise<void>;
  effects: () => Effect[];
  stop: () => Promise<void>;
}

/** Where the steps go: one server of each kind. */
export interface Targets {
  http: WebhookReceiver;
  vendor: ScriptedVendor;
  mail: MailServer;
  asked: Effect[];
  /** What the service must be started with to reach them. */
  env: Record<string, string>;
}

function textOf(value: unknown): string {
  return JSON.stringify(value);
}

/** Fails some first attempts, and no second one. */
function answer({ headers, body }: ReceivedWebhook) {
  const isFirst = String(headers['idempotency-key']).endsWith(':1');
  if (isFirst && Math.random() < FAILING_SHARE) return { status: 503 };
  return {
    status: 200,
    body: body.toString(),
    headers: { 'content-type': 'application/json' },
    afterMs: Math.random() * SLOWEST_MS,
  };
}

export async function startTargets(): Promise<Targets> {
  const asked: Effect[] = [];
  const vendor = await startScriptedVendor({
    isRecording: false,
    script: async ({ body }) => {
      const atMs = performance.timeOrigin + performance.now();
      const of = /Run number (\d+)\./.exec(textOf(body))?.[1] ?? '';
      asked.push({ step: 'ask', of, attemptId: undefined, atMs });
      await sleep(Math.random() * SLOWEST_MS);
      return { text: ['Noted.'] };
    },
  });
  const [http, mail] = await Promise.all([startWebhookReceiver({ answer }), startMailServer()]);
  const env = {
    AI_DEFAULT_BASE_URL: vendor.baseUrl,
    AI_DEFAULT_API_KEY: 'vendor-key',
    SMTP_URL: mail.url,
    SMTP_FROM: 'Tessera <runs@mail.example>',
  };
  return { http, vendor, mail, asked, env };
}

const RETRY = { attempts: 3, backoffMs: 10 };

/** Two branches at once, a condition over both, one side taken, and a mail at its end. */
function mixedWorkflow(url: string): object {
  const n = '{{trigger.data.n}}';
  return {
    name: 'Mixed',
    nodes: [
      { id: 'call', type: 'http-request', retry: RETRY, config: { method: 'POST', url: `${url}/call`, body: { n } } },
      { id: 'tool', type: 'tool-call', retry: RETRY, config: { tool: 'ledger', input: { n } } },
      { id: 'check', type: 'condition', config: { expression: 'call.result.body.n == tool.result.n' } },
      { id: 'ask', type: 'ai-generate', retry: RETRY, config: { prompt: `Run number ${n}.` } },
      { id: 'never', type: 'http-request', config: { url: `${url}/never` } },
      {
        id: 'mail',
        type: 'email-send',
        retry: RETRY,
        config: { to: 'ann@x.example', subject: `Run number ${n}.`, body: '{{ask.result}}' },
      },
    ],
    edges: [
      { from: 'call', to: 'check' },
      { from: 'tool', to: 'check' },
      { from: 'check', to: 'ask', condition: 'true' },
      { from: 'check', to: 'never', condition: 'false' },
      { from: 'ask', to: 'mail' },
    ],
  };
}

/** Begins when one of the above has completed. */
function afterWorkflow(url: string): object {
  const config = { method: 'POST', url: `${url}/after`, body: { n: '{{trigger.data.runId}}' } };
  return {
    name: 'After',
    trigger: { type: 'event', event: 'workflow.completed', filter: { workflowName: 'Mixed' } },
    nodes: [{ id: 'after', type: 'http-request', retry: RETRY, config }],
  };
}

const CRON = {
  name: 'Every second',
  trigger: { type: 'cron', schedule: '* * * * * *', catchUp: 'all' },
  nodes: [{ id: 'tick', type: 'condition', config: { left: 1, operator: '==', right: 1 } }],
};

function webEffect({ path, headers, body, arrivedAtMs }: ReceivedWebhook): Effect[] {
  const step = path.slice(1);
  if (step !== 'call' && step !== 'tool' && step !== 'after') throw new Error(`an effect that must not be: ${path}`);
  const of = String(pick(JSON.parse(body.toString()), 'n'));
  return [{ step, of, attemptId: String(headers['idempotency-key']), atMs: arrivedAtMs }];
}

function effectsOf({ http, mail, asked }: Targets): Effect[] {
  const mails = mail.received.map(({ source, arrivedAtMs }): Effect => {
    const attemptId = /^Message-ID: *(\S+)/im.exec(source)?.[1];
    return { step: 'mail', of: /^Subject: Run number (\d+)\./m.exec(source)?.[1] ?? '', attemptId, atMs: arrivedAtMs };
  });
  return [...http.received.flatMap(webEffect), ...asked, ...mails];
}

/** Gives a service the tool and the workflows of the ledger. */
export async function openRunLedger(service: { url: string }, key: string, targets: Targets): Promise<RunLedger> {
  const { http, vendor, mail } = targets;
  const post = (url: string, path: string, body: unknown) => callApi(url, { method: 'POST', path, key, body });
  const execution = { type: 'http', method: 'POST', url: `${http.url}/tool` };
  await post(service.url, '/v1/tools', { name: 'ledger', description: 'Keeps a number.', execution });
  const create = async (definition: object) =>
    pickText((await post(service.url, '/v1/workflows', definition)).body, '_id');
  const workflowId = await create(mixedWorkflow(http.url));
  const afterId = await create(afterWorkflow(http.url));
  const cronId = await create(CRON);

  const sent = new Set<number>();
  const accepted = new Map<string, number>();
  const publishOne = async (url: string): Promise<void> => {
    const n = sent.size;
    sent.add(n);
    const { status, body } = await post(url, `/v1/workflows/${workflowId}/run`, { data: { n } });
    if (status === 200) accepted.set(pickText(body, 'runId'), n);
    else if (status !== 503) throw new Error(`asking for a run gave ${status}: ${textOf(body)}`);
    await sleep(PAUSE_MS);
  };
  return {
    workflowId,
    afterId,
    cronId,
    sent,
    accepted,
    publish: async (url) => {
      try {
        for (;;) await publishOne(url);
      } catch (error) {
        // fetch reports a connection that broke, or was refused, in this way.
        if (!(error instanceof TypeError)) throw error;
      }
    },
    effects: () => effectsOf(targets),
    stop: async () => {
      await Promise.all([http.stop(), vendor.close(), mail.stop()]);
    },
  };
}
