import { callApi, pickText } from './start-test-app.ts';

/** What a service acknowledged under load, across however many of its lives. */
export interface Acknowledged {
  tools: Set<string>;
  /** Ids of API keys, with their values. */
  keys: Map<string, string>;
  /** Messages of chats, which are unique. */
  chats: Set<string>;
}

/** Writers that keep a service busy until it goes away. */
export interface WriteLoad {
  /** Resolves when the service has gone away under every writer. */
  ended: Promise<void>;
  /** Moments (performance.now()) of the acknowledgements so far. */
  acknowledgedAtMs: number[];
}

/** The one description that a tool of that name is registered with; long enough to be torn, were that possible. */
export function descriptionOf(name: string): string {
  return `${name} `.repeat(200);
}

export class WriteLoader {
  readonly acknowledged: Acknowledged = { tools: new Set(), keys: new Map(), chats: new Set() };
  /** Requests that were sent, answered or not. */
  sent = 0;
  #counter = 0;
  readonly #key: string;

  constructor(key: string) {
    this.#key = key;
  }

  start(url: string, writers: number): WriteLoad {
    const acknowledgedAtMs: number[] = [];
    const steps = [() => this.#tool(url), () => this.#chat(url), () => this.#apiKey(url)];
    const write = async (): Promise<void> => {
      for (let i = 0; ; i++) {
        try {
          await steps[i % steps.length]?.();
        } catch (error) {
          // fetch reports a connection that broke, or was refused, in this way.
          if (error instanceof TypeError) return;
          throw error;
        }
        acknowledgedAtMs.push(performance.now());
      }
    };
    const ended = Promise.all(Array.from({ length: writers }, write)).then(() => undefined);
    return { ended, acknowledgedAtMs };
  }

  async #post(url: string, path: string, body: unknown): Promise<unknown> {
    this.sent++;
    const answer = await callApi(url, { method: 'POST', path, key: this.#key, body });
    if (answer.status > 201) throw new Error(`${path} gave ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  async #tool(url: string): Promise<void> {
    const name = `tool_${this.#counter++}`;
    await this.#post(url, '/v1/tools', { name, description: descriptionOf(name) });
    this.acknowledged.tools.add(name);
  }

  async #chat(url: string): Promise<void> {
    const message = `message ${this.#counter++}`;
    await this.#post(url, '/v1/ai/chat', { message, conversationId: `c-${this.#counter % 7}`, appContext: 'none' });
    this.acknowledged.chats.add(message);
  }

  async #apiKey(url: string): Promise<void> {
    const body = await this.#post(url, '/v1/auth/api-keys', { name: `key ${this.#counter++}`, permissions: ['read'] });
    this.acknowledged.keys.set(pickText(body, 'id'), pickText(body, 'key'));
  }
}
