import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests whose connections were cut end within moments; a handler that ignores it is left behind after this time. */
const END_TIMEOUT_MS = 5000;

/**
 * The answer that a connection waits for. Node keeps it there, and its own closeIdleConnections looks at it; keeping
 * account ourselves would cost every request something for the sake of the one stop.
 */
function answerOn(socket: Socket): { shouldKeepAlive: boolean } | undefined {
  const answer: unknown = Reflect.get(socket, '_httpMessage');
  return isAnswer(answer) ? answer : undefined;
}

function isAnswer(value: unknown): value is { shouldKeepAlive: boolean } {
  return typeof value === 'object' && value !== null && 'shouldKeepAlive' in value;
}

/**
 * The connections of a server and the handlers at work, so that a stop can tell clients to go elsewhere, let every
 * answer under way arrive whole, and wait until the last handler has noted how its request ended.
 */
export class UnderWay {
  readonly #sockets = new Set<Socket>();
  #handlers = 0;
  #isStopping = false;
  #ended: (() => void) | undefined;

  addConnection(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.#checkEnd();
    });
  }

  beginAnswer(response: ServerResponse): void {
    if (this.#isStopping) response.shouldKeepAlive = false;
  }

  /** To be called when the response has closed. */
  endAnswer(response: ServerResponse): void {
    // A stream told its client to keep the connection before there was a stop.
    if (this.#isStopping) response.req.socket.destroySoon();
  }

  /** Counts a handler until it has settled, which may be after its client has left. */
  addHandler(handler: Promise<unknown>): void {
    this.#handlers++;
    const end = (): void => {
      this.#handlers--;
      this.#checkEnd();
    };
    handler.then(end, end);
  }

  /** From now on every answer that has not begun tells its client to close the connection. */
  beginStop(): void {
    this.#isStopping = true;
    for (const socket of this.#sockets) {
      const answer = answerOn(socket);
      if (answer) answer.shouldKeepAlive = false;
    }
  }

  /**
   * Closes connections on which nothing happens, by Node's own means. Those would also cut an answer that is written,
   * but still on its way to a slow client, so connections with an answer are shielded meanwhile.
   */
  closeIdle(closeIdleConnections: () => void): void {
    const shielded = [...this.#sockets].filter((socket) => answerOn(socket) !== undefined);
    for (const socket of shielded) socket.destroy = () => socket;
    closeIdleConnections();
    // What is left is the method of its class.
    for (const socket of shielded) Reflect.deleteProperty(socket, 'destroy');
  }

  closeAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Resolves when every connection has closed and every handler has settled, or after five seconds. */
  async end(): Promise<void> {
    if (this.#isIdle()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ended = resolve;
    const timer = setTimeout(resolve, END_TIMEOUT_MS);
    await promise;
    clearTimeout(timer);
  }

  #isIdle(): boolean {
    return this.#sockets.size === 0 && this.#handlers === 0;
  }

  #checkEnd(): void {
    if (this.#isIdle()) this.#ended?.();
  }
}
