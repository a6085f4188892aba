import { createTransport } from 'nodemailer';
import type { Secret } from '../config/index.ts';

const TIMEOUT_MS = 10_000;
const MAX_CONNECTIONS = 5;

/** A mail to send. */
export interface Mail {
  to: string[];
  cc: string[];
  bcc: string[];
  replyTo?: string;
  subject: string;
  text: string;
  html?: string;
  /** Left part of its Message-ID; the same for a repetition. */
  id: string;
}

export interface Mailer {
  /** Resolves when the server has taken it. Rejects with the server's words, or after ten seconds of silence. */
  send: (mail: Mail) => Promise<{ messageId: string; accepted: string[] }>;
  close: () => void;
}

/** Opens connections to a mail server when they are needed; undefined without one. */
export function createMailer({
  SMTP_URL,
  SMTP_FROM,
}: {
  SMTP_URL: Secret | undefined;
  SMTP_FROM: string;
}): Mailer | undefined {
  if (!SMTP_URL) return undefined;
  const transport = createTransport({
    url: SMTP_URL.reveal(),
    pool: true,
    maxConnections: MAX_CONNECTIONS,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    // A mail never reads a file or an address of the server's.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    send: async ({ id, ...mail }) => {
      const sent = await transport.sendMail({ ...mail, from: SMTP_FROM, messageId: `<${id}@tessera>` });
      return { messageId: sent.messageId, accepted: sent.accepted };
    },
    close: () => transport.close(),
  };
}
