import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';

/** A mail as it came. */
interface ReceivedMail {
  source: string;
  /** When it had come as a whole, in ms since 1970, with fractions. */
  arrivedAtMs: number;
}

/** An SMTP server on loopback that takes every mail and keeps it. */
export interface MailServer {
  url: string;
  readonly received: readonly ReceivedMail[];
  stop: () => Promise<void>;
}

export async function startMailServer(): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  const keep = async (stream: Readable, done: () => void): Promise<void> => {
    try {
      const source = await text(stream);
      received.push({ source, arrivedAtMs: performance.timeOrigin + performance.now() });
      done();
    } catch {
      // The client was killed before the end of its mail.
    }
  };
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, _session, done) => void keep(stream, done),
  });
  // A client that was killed.
  smtp.on('error', () => undefined);
  await once(smtp.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `smtp://127.0.0.1:${portOf(smtp.server)}`,
    received,
    stop: () => new Promise<void>((resolve) => smtp.close(resolve)),
  };
}

/** Safe because the server listens on TCP. */
function portOf(server: Server): number {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return (server.address() as AddressInfo).port;
}
