import { once } from 'node:events';
import { WebSocket } from 'ws';

/** What the service sent, parsed. */
export interface Received {
  type: string;
  [field: string]: unknown;
}

/** An agent that does nothing by itself, for tests that say what it sends and when it breaks off. */
export class RawAgent {
  readonly socket: WebSocket;
  readonly received: Received[] = [];
  /** How the connection ended. */
  readonly closed: Promise<{ code: number; reason: string }>;
  #watchers: (() => void)[] = [];

  constructor(url: string, headers: Record<string, string>) {
    this.socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/agents/connect`, { headers });
    this.socket.on('error', () => undefined);
    this.socket.on('message', (data: Buffer) => {
      this.received.push(asReceived(JSON.parse(data.toString())));
      this.#changed();
    });
    this.closed = new Promise((resolve) => {
      this.socket.on('close', (code, reason) => {
        resolve({ code, reason: reason.toString() });
        this.#changed();
      });
    });
  }

  /** Connects, introduces itself with handlers of these names, and waits for the welcome. */
  static async join(url: string, key: string, handlers: readonly string[]): Promise<RawAgent> {
    const agent = new RawAgent(url, { 'x-api-key': key });
    await once(agent.socket, 'open');
    agent.send(hello(handlers));
    await agent.next('welcome');
    return agent;
  }

  send(message: unknown): void {
    this.socket.send(JSON.stringify(message));
  }

  /** Takes the next message of the type out of what was received; rejects when the connection ends before it. */
  async next(type: string): Promise<Received> {
    for (;;) {
      const index = this.received.findIndex((message) => message.type === type);
      if (index !== -1) return this.received.splice(index, 1)[0] ?? { type };
      if (this.socket.readyState === WebSocket.CLOSED) throw new Error(`closed before a message "${type}"`);
      await new Promise<void>((resolve) => {
        this.#watchers.push(resolve);
      });
    }
  }

  /** Takes a call and answers it with a result. */
  async answer(result: unknown): Promise<Received> {
    const call = await this.next('call');
    this.send({ type: 'result', callId: call['callId'], status: 'success', result });
    return call;
  }

  /** Breaks the connection as a pulled cable does, but noticed at once. */
  cut(): void {
    this.socket.terminate();
  }

  #changed(): void {
    const watchers = this.#watchers;
    this.#watchers = [];
    for (const watcher of watchers) watcher();
  }
}

export function hello(handlers: readonly string[]) {
  const listed = handlers.map((name) => ({ name, description: name, input_schema: { type: 'object' } }));
  return { type: 'hello', protocol: 1, agentName: 'raw', handlers: listed };
}

/** Safe because the service sends nothing but objects with a type; what does not fit fails the test that reads it. */
function asReceived(value: unknown): Received {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return value as Received;
}
