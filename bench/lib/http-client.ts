import { connect, type Socket } from 'node:net';
import { once } from 'node:events';

/** One request as bytes: what is measured is the server, not a client library. */
export interface RawRequest {
  host: string;
  port: number;
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** The request in wire form. */
export function requestBytes({ host, port, method, path, headers, body = '' }: RawRequest): Buffer {
  const all = { host: `${host}:${port}`, 'content-length': String(Buffer.byteLength(body)), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
}

/** Whether the bytes hold a whole answer: by content-length, or by the last chunk. */
function isComplete(answer: string): boolean {
  const headEnd = answer.indexOf('\r\n\r\n');
  if (headEnd === -1) return false;
  const length = /\r\ncontent-length: *(\d+)/i.exec(answer.slice(0, headEnd))?.[1];
  return length === undefined ? answer.endsWith('0\r\n\r\n') : answer.length >= headEnd + 4 + Number(length);
}

/** A kept-alive connection that sends one request at a time. Answers must be latin-1 for the count of bytes to hold. */
export class RawConnection {
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  static async open({ host, port }: { host: string; port: number }): Promise<RawConnection> {
    const socket = connect({ host, port, noDelay: true });
    await once(socket, 'connect');
    return new RawConnection(socket);
  }

  /** Sends the bytes and waits for the whole answer. Throws unless the status is 200 or 201. */
  async send(bytes: Buffer): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    let answer = '';
    const onData = (chunk: Buffer): void => {
      answer += chunk.toString('latin1');
      if (isComplete(answer)) resolve(answer);
    };
    const onClose = (): void => reject(new Error('the connection was closed'));
    this.#socket.on('data', onData).once('close', onClose);
    this.#socket.write(bytes);
    try {
      const whole = await promise;
      if (!/^HTTP\/1\.1 20[01]/.test(whole)) throw new Error(`unexpected answer: ${whole.slice(0, 400)}`);
      return whole;
    } finally {
      this.#socket.off('data', onData).off('close', onClose);
    }
  }

  close(): void {
    this.#socket.destroy();
  }
}

/** Milliseconds of each of `count` requests, one after the other, after as many warm-up rounds as are asked for. */
export async function latencies(request: RawRequest, rounds: { warmUp: number; count: number }): Promise<number[]> {
  const connection = await RawConnection.open(request);
  const bytes = requestBytes(request);
  const samples: number[] = [];
  for (let i = 0; i < rounds.warmUp + rounds.count; i++) {
    const startedAt = performance.now();
    await connection.send(bytes);
    if (i >= rounds.warmUp) samples.push(performance.now() - startedAt);
  }
  connection.close();
  return samples;
}
