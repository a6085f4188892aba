import type { RawData, WebSocket } from 'ws';
import { AGENT_LIMITS } from '../../../contract/agent/limits.ts';
import { messageReader } from '../../../contract/agent/message-reader.ts';
import {
  AGENT_PROTOCOL,
  AgentMessage,
  type Hello,
  type Result,
  type ServiceMessage,
} from '../../../contract/agent/protocol.ts';
import type { AcceptedSocket } from '../../platform/http/index.ts';
import { failure, type AgentCall, type CallOutcome } from './call-outcome.ts';
import { CallTable } from './call-table.ts';
import { MessageAllowance } from './message-allowance.ts';

const HELLO_TIMEOUT_MS = 10_000;
/** How soon a revoked key ends its connections. */
const KEY_CHECK_MS = 500;
/** Beats without a single byte from the agent. */
const MAX_SILENT_BEATS = 2;
/** For an agent that does not answer the closing handshake. */
const CLOSE_TIMEOUT_MS = 1000;
/** What an agent may send unasked: control frames, and its hello and bye. */
const UNASKED = { size: 40, perSecond: 5 };
/** Bytes of calls on their way to a slow agent. */
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;

/** Status codes of RFC 6455, section 7.4.1. */
const CLOSE = { normal: 1000, goingAway: 1001, policy: 1008, tryLater: 1013 } as const;

const readMessage = messageReader(AgentMessage);

export interface ConnectionOptions {
  id: string;
  heartbeatMs: number;
  /** The agent has introduced itself. Welcomed when it resolves; sent away when it rejects. */
  onHello: (connection: AgentConnection) => Promise<void>;
  /** It takes no further calls. Called once, and only after `onHello`. */
  onLeave: (connection: AgentConnection, reason: string) => void;
}

type State = 'new' | 'joining' | 'ready' | 'leaving' | 'gone';

/** One agent's connection, from its hello to its end. */
export class AgentConnection {
  readonly id: string;
  readonly developerId: string;
  readonly connectedAt = new Date();
  lastSeenAt = this.connectedAt;
  name = '';
  handlers: ReadonlySet<string> = new Set();
  readonly #accepted: AcceptedSocket;
  readonly #socket: WebSocket;
  readonly #options: ConnectionOptions;
  readonly #calls: CallTable;
  readonly #unasked = new MessageAllowance(UNASKED, performance.now());
  readonly #timers: NodeJS.Timeout[];
  readonly #ended = Promise.withResolvers<void>();
  #state: State = 'new';
  #bytesRead = 0;
  #silentBeats = 0;

  constructor(accepted: AcceptedSocket, options: ConnectionOptions) {
    this.id = options.id;
    this.developerId = accepted.caller.developerId;
    this.#accepted = accepted;
    this.#socket = accepted.socket;
    this.#options = options;
    this.#calls = new CallTable({
      onForsaken: (callId) => this.#send({ type: 'cancel', callId }),
      onSettled: () => this.#endWhenDone(),
    });
    this.#timers = [
      setTimeout(() => this.#state === 'new' && this.end('No hello came.'), HELLO_TIMEOUT_MS),
      setInterval(() => this.#beat(), options.heartbeatMs),
      setInterval(() => void this.#checkKey(), KEY_CHECK_MS),
    ];
    this.#watch();
  }

  /** Resolves when the connection is closed. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  get callCount(): number {
    return this.#calls.size;
  }

  get isReady(): boolean {
    return this.#state === 'ready' && this.#socket.readyState === this.#socket.OPEN;
  }

  /** Whether a further call may be sent. */
  get hasRoom(): boolean {
    return this.#calls.size < AGENT_LIMITS.callsUnderWay && this.#socket.bufferedAmount < MAX_BUFFERED_BYTES;
  }

  /** Sends the call, once, and waits for its end. Never rejects. */
  call(call: AgentCall): Promise<CallOutcome> {
    const { callId, handler, input, timeoutMs, signal } = call;
    if (signal.aborted) return Promise.resolve(failure('cancelled', `The call of "${handler}" was cancelled.`));
    if (!this.isReady) return Promise.resolve(failure('no_agent', `The agent "${this.name}" is leaving.`));
    if (!this.hasRoom) return Promise.resolve(failure('busy', this.#busyMessage()));
    const outcome = this.#calls.add(call);
    this.#send({ type: 'call', callId, handler, input, deadlineMs: timeoutMs });
    return outcome;
  }

  /** Sends no further calls, and closes when those under way have ended. */
  leave(reason: string): void {
    if (this.#state === 'gone') return;
    this.#send({ type: 'bye', reason });
    this.#stopTaking(reason);
    this.#endWhenDone();
  }

  /** Closes at once, after telling why. Calls under way fail. */
  end(reason: string, code: number = CLOSE.policy): void {
    if (this.#state === 'gone') return;
    this.#send({ type: 'bye', reason });
    this.#finish(reason);
    this.#close(code, reason);
  }

  #busyMessage(): string {
    return `The agent "${this.name}" runs ${this.#calls.size} calls already; it takes ${AGENT_LIMITS.callsUnderWay} at a time.`;
  }

  #watch(): void {
    this.#socket
      .on('message', (data, isBinary) => this.#receive(data, isBinary))
      .on('ping', () => this.#countUnasked())
      .on('pong', () => this.#countUnasked())
      // Frames that break the protocol or its limits; ws closes the connection, with the status for it.
      .on('error', ({ message }) => {
        this.#finish(`Its connection failed: ${message}.`);
        this.#closeInTime();
      })
      .on('close', () => {
        this.#finish('Its connection was closed.');
        this.#ended.resolve();
      });
  }

  #receive(data: RawData, isBinary: boolean): void {
    // What was sent before it heard of its end.
    if (this.#state === 'gone') return;
    if (isBinary || !Buffer.isBuffer(data)) return this.end('Messages are text.');
    if (this.#state === 'new' && data.length > AGENT_LIMITS.helloBytes) return this.end('The hello is too large.');
    this.lastSeenAt = new Date();
    const message = readMessage(data.toString('utf8'));
    if (!message) return this.end('A message was not of the protocol.');
    switch (message.type) {
      case 'hello':
        return this.#greet(message);
      case 'result':
        return this.#takeResult(message);
      case 'bye':
        if (this.#state === 'new') return this.end('Bye.', CLOSE.normal);
        this.#stopTaking(`It said: ${message.reason}`);
        return this.#endWhenDone();
    }
  }

  #greet({ protocol, agentName, handlers }: Hello): void {
    if (this.#state !== 'new') return this.end('There is one hello.');
    if (protocol !== AGENT_PROTOCOL) return this.end(`This service speaks protocol ${AGENT_PROTOCOL}.`);
    this.name = agentName;
    this.handlers = new Set(handlers.map(({ name }) => name));
    this.#state = 'joining';
    void this.#join();
  }

  async #join(): Promise<void> {
    try {
      await this.#options.onHello(this);
    } catch {
      this.end('The service cannot take agents now.', CLOSE.tryLater);
    }
    if (this.#state !== 'joining') return;
    this.#state = 'ready';
    this.#send({ type: 'welcome', agentId: this.id, heartbeatMs: this.#options.heartbeatMs });
  }

  #takeResult({ callId, status, result = null, error }: Result): void {
    const outcome: CallOutcome =
      status === 'success' ? { status, result } : failure('failed', error ?? 'The handler failed and did not say why.');
    if (!this.#calls.settle(callId, outcome)) this.end('A result was for a call that is not under way here.');
  }

  #countUnasked(): void {
    this.lastSeenAt = new Date();
    if (!this.#unasked.take(performance.now())) this.end('Too many messages that nobody asked for.');
  }

  #beat(): void {
    const bytesRead = this.#accepted.bytesRead();
    this.#silentBeats = bytesRead === this.#bytesRead ? this.#silentBeats + 1 : 0;
    this.#bytesRead = bytesRead;
    if (this.#silentBeats >= MAX_SILENT_BEATS) {
      this.#finish('It does not answer.');
      this.#socket.terminate();
    } else this.#socket.ping();
  }

  async #checkKey(): Promise<void> {
    // A database that is away revokes nobody.
    const isAllowed = await this.#accepted.isStillAllowed().catch(() => true);
    if (!isAllowed) this.end('The API key is revoked, or may not write any more.');
  }

  #send(message: ServiceMessage): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #stopTaking(reason: string): void {
    const wasKnown = this.#state === 'joining' || this.#state === 'ready';
    if (this.#state !== 'gone') this.#state = 'leaving';
    if (wasKnown) this.#options.onLeave(this, reason);
  }

  #endWhenDone(): void {
    if (this.#state !== 'leaving' || this.#calls.size > 0) return;
    this.#finish('It left.');
    this.#close(CLOSE.goingAway, 'Bye.');
  }

  /** From here on nothing of it counts. */
  #finish(reason: string): void {
    if (this.#state === 'gone') return;
    this.#stopTaking(reason);
    this.#state = 'gone';
    for (const timer of this.#timers) clearTimeout(timer);
    const lost = `The agent "${this.name}" disconnected while it ran the call; how far it came is not known. ${reason}`;
    this.#calls.settleAll(failure('disconnected', lost));
  }

  #close(code: number, reason: string): void {
    this.#socket.close(code, reason.slice(0, 100));
    this.#closeInTime();
  }

  #closeInTime(): void {
    const timer = setTimeout(() => this.#socket.terminate(), CLOSE_TIMEOUT_MS);
    void this.#ended.promise.then(() => clearTimeout(timer));
  }
}
