import { createTransport } from 'nodemailer';
import type { SettingsOf } from '../config/index.ts';
import { parseAddresses, type MailAddress } from './mail-address.ts';
import type { mailSettings } from './mail.settings.ts';

const TIMEOUT_MS = 10_000;
/** For all of a message, the wait for a free connection included. */
const TOTAL_TIMEOUT_MS = 60_000;
/** Characters of the server's words that are shown. */
const SHOWN = 500;

/** A message. */
interface Mail {
  /** The part of the Message-ID before the @: letters, digits, dots and dashes. */
  id: string;
  to: MailAddress[];
  cc: MailAddress[];
  bcc: MailAddress[];
  replyTo: MailAddress[];
  subject: string;
  text: string;
  html?: string | undefined;
}

/** Sends mail through the operator's server. */
export interface Mailer {
  /**
   * Resolves when the server has taken the message for at least one recipient. Throws MailError. When the signal ends
   * the wait, the message may still go out.
   */
  send: (mail: Mail, signal: AbortSignal) => Promise<{ messageId: string; accepted: string[] }>;
  /** Closes every connection; messages under way fail. */
  close: () => void;
}

/** Why a message did not go out. The message of the error may be shown to who wrote the mail. */
export class MailError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'MailError';
  }
}

function textField(error: Error, field: string): string | undefined {
  const value: unknown = Reflect.get(error, field);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function explain(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const response = textField(error, 'response');
  const code = textField(error, 'code');
  if (response !== undefined) {
    return new MailError(`The mail server refused: ${response.slice(0, SHOWN).toWellFormed()}`, { cause: error });
  }
  if (code === 'ETIMEDOUT') return new MailError('The mail server did not answer in time.', { cause: error });
  if (code !== undefined) return new MailError(`The mail server cannot be used (${code}).`, { cause: error });
  return new MailError('The mail could not be sent.', { cause: error });
}

/** Rejects when the signal is aborted, whether or not the work is done. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const giveUp = (): void => reject(new MailError('The mail was given up.', { cause: signal.reason }));
  if (signal.aborted) giveUp();
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', giveUp);
    // A late failure of work that nobody waits for any more must not end the process.
    work.catch(() => undefined);
  }
}

/** Opens connections when there is something to send, and keeps a few. Undefined when no server is set. */
export function createMailer(
  { SMTP_URL: url, SMTP_FROM }: SettingsOf<typeof mailSettings>,
  { timeoutMs = TIMEOUT_MS } = {},
): Mailer | undefined {
  const [from] = parseAddresses(SMTP_FROM);
  if (!url || !from) return undefined;
  const transport = createTransport({
    url: url.reveal(),
    pool: true,
    // A mail never reads a file or an address of the server's.
    disableFileAccess: true,
    disableUrlAccess: true,
    connectionTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
  });
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1);

  return {
    send: async ({ id, ...mail }, signal) => {
      if (signal.aborted) throw new MailError('The mail was given up.', { cause: signal.reason });
      const ends = AbortSignal.any([signal, AbortSignal.timeout(TOTAL_TIMEOUT_MS)]);
      const messageId = `<${id}@${domain}>`;
      // Tells receivers not to answer with a note of absence (RFC 3834).
      const headers = { 'Auto-Submitted': 'auto-generated' };
      const work = transport.sendMail({ ...mail, from, messageId, headers });
      try {
        const { accepted } = await untilAborted(work, ends);
        return { messageId, accepted };
      } catch (error) {
        throw error instanceof MailError ? error : explain(error);
      }
    },
    close: () => transport.close(),
  };
}
