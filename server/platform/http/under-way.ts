import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests whose connections were cut end within moments; a handler that ignores it is left behind after this time. */
const END_TIMEOUT_MS = 5000;

/**
 * The connections of a server and what happens on them, so that a stop can tell clients to go elsewhere, let every
 * answer under way arrive whole, and wait until the last handler has noted how its request ended.
 */
export class UnderWay {
  readonly #sockets = new Set<Socket>();
  readonly #responses = new Set<ServerResponse>();
  /** Bytes received when the last answer of a connection was complete: more means that a request is arriving. */
  readonly #settledBytes = new WeakMap<Socket, number>();
  #handlers = 0;
  #isStopping = false;
  #ended: (() => void) | undefined;

  addConnection(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
    });
  }

  addResponse(response: ServerResponse): void {
    this.#responses.add(response);
    if (this.#isStopping) response.shouldKeepAlive = false;
  }

  /** To be called when the response has closed. */
  removeResponse(response: ServerResponse): void {
    this.#responses.delete(response);
    const { socket } = response.req;
    this.#settledBytes.set(socket, socket.bytesRead);
    // A stream told its client to keep the connection before there was a stop.
    if (this.#isStopping) socket.destroySoon();
    this.#checkEnd();
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
    for (const response of this.#responses) response.shouldKeepAlive = false;
  }

  /**
   * Closes connections on which nothing happens. Node's own version also cuts answers that are written, but still on
   * their way to a slow client.
   */
  closeIdle(): void {
    const busy = new Set([...this.#responses].map(({ req }) => req.socket));
    for (const socket of this.#sockets) {
      const isArriving = socket.bytesRead > (this.#settledBytes.get(socket) ?? 0);
      if (!busy.has(socket) && !isArriving) socket.destroy();
    }
  }

  closeAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Resolves when every response has closed and every handler has settled, or after five seconds. */
  async end(): Promise<void> {
    if (this.#isIdle()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ended = resolve;
    const timer = setTimeout(resolve, END_TIMEOUT_MS);
    await promise;
    clearTimeout(timer);
  }

  #isIdle(): boolean {
    return this.#responses.size === 0 && this.#handlers === 0;
  }

  #checkEnd(): void {
    if (this.#isIdle()) this.#ended?.();
  }
}
