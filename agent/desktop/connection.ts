import { WebSocket, type RawData } from 'ws';
import { AGENT_LIMITS } from '../../contract/agent/limits.ts';
import { messageReader } from '../../contract/agent/message-reader.ts';
import { AGENT_PATH, AGENT_PROTOCOL, ServiceMessage } from '../../contract/agent/protocol.ts';
import type { AgentMessage, Call, Handler, Result } from '../../contract/agent/protocol.ts';

const CONNECT_TIMEOUT_MS = 10_000;
/** Pings of the service that may be missed before it counts as gone. */
const MISSED_PINGS = 3;

const readMessage = messageReader(ServiceMessage);

export interface ConnectionOptions {
  /** Base address of the service. */
  url: string;
  key: string;
  agentName: string;
  handlers: readonly Handler[];
  run: (call: Call, signal: AbortSignal) => Promise<Result>;
  onWelcome: (agentId: string) => void;
  /** The service wants to part; calls under way still finish. */
  onBye: (reason: string) => void;
  /** Once, when there is no connection any more. `isRefused`: trying again with this key is of no use. */
  onEnd: (reason: string, isRefused: boolean) => void;
}

/** `https://host/base` as the address of the WebSocket below it. */
function socketUrl(url: string): string {
  return url.replace(/^http/i, 'ws').replace(/\/+$/, '') + AGENT_PATH;
}

/** One connection to the service, from its attempt to its end. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #socket: WebSocket;
  readonly #calls = new Map<string, AbortController>();
  #silence: NodeJS.Timeout | undefined;
  #heartbeatMs = 0;
  #reason = '';
  #isEnded = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#socket = new WebSocket(socketUrl(options.url), {
      headers: { 'x-api-key': options.key },
      handshakeTimeout: CONNECT_TIMEOUT_MS,
      maxPayload: AGENT_LIMITS.callBytes,
      perMessageDeflate: false,
    });
    this.#socket
      .on('open', () => this.#introduce())
      .on('message', (data, isBinary) => this.#receive(data, isBinary))
      .on('ping', () => this.#heard())
      .on('unexpected-response', (request, response) => {
        request.destroy();
        const { statusCode = 0 } = response;
        this.#end(`the service answered ${statusCode}`, statusCode === 401 || statusCode === 403);
      })
      .on('error', ({ message }) => (this.#reason ||= message))
      .on('close', (_code, reason) => this.#end(this.#reason || reason.toString() || 'the connection broke', false));
  }

  get callCount(): number {
    return this.#calls.size;
  }

  /** Asks to part: the service sends no further call, and closes when those under way have ended. */
  leave(reason: string): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#send({ type: 'bye', reason });
    else this.#socket.terminate();
  }

  terminate(): void {
    this.#socket.terminate();
  }

  #introduce(): void {
    const { agentName, handlers } = this.#options;
    const listed = handlers.map(({ name, description, input_schema }) => ({ name, description, input_schema }));
    this.#send({ type: 'hello', protocol: AGENT_PROTOCOL, agentName, handlers: listed });
  }

  #receive(data: RawData, isBinary: boolean): void {
    const message = !isBinary && Buffer.isBuffer(data) ? readMessage(data.toString('utf8')) : undefined;
    if (!message) {
      this.#reason = 'the service sent what is not of the protocol';
      this.#socket.close(1008);
      return;
    }
    this.#heard();
    switch (message.type) {
      case 'welcome':
        this.#heartbeatMs = message.heartbeatMs;
        this.#heard();
        return this.#options.onWelcome(message.agentId);
      case 'call':
        return void this.#run(message);
      case 'cancel':
        return this.#calls.get(message.callId)?.abort();
      case 'bye':
        this.#reason = message.reason;
        return this.#options.onBye(message.reason);
    }
  }

  /** The service pings; one that has gone silent is given up. */
  #heard(): void {
    if (this.#heartbeatMs === 0) return;
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.#socket.terminate(), this.#heartbeatMs * MISSED_PINGS);
  }

  async #run(call: Call): Promise<void> {
    if (this.#calls.has(call.callId)) return;
    const abort = new AbortController();
    this.#calls.set(call.callId, abort);
    const result = await this.#options.run(call, abort.signal);
    this.#calls.delete(call.callId);
    // Nobody waits for it any more.
    if (!abort.signal.aborted) this.#send(result);
  }

  #send(message: AgentMessage): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #end(reason: string, isRefused: boolean): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearTimeout(this.#silence);
    for (const abort of this.#calls.values()) abort.abort();
    this.#options.onEnd(reason, isRefused);
  }
}
