import { createHash } from 'node:crypto';
import { MailError, parseAddresses, type MailAddress, type Mailer } from '../../../platform/mail/index.ts';
import { StepError, type RunNode } from './node-type.ts';
import { optionalText, requiredText } from './read-config.ts';

type Config = Record<string, unknown>;

const MAX_RECIPIENTS = 100;
/** Characters of one field of addresses, and of a subject. */
const MAX_ADDRESSES_LENGTH = 50_000;
const MAX_SUBJECT_LENGTH = 1000;

/** A text of addresses with commas between them, or a list of such texts. */
export function addressesOf(config: Config, field: string): MailAddress[] {
  const value = config[field] ?? [];
  const texts: unknown[] = Array.isArray(value) ? value : [value];
  return texts.flatMap((text) => {
    if (typeof text !== 'string') throw new StepError(`config.${field} must be a text or a list of texts.`);
    if (text.length > MAX_ADDRESSES_LENGTH) throw new StepError(`config.${field} is too long.`);
    try {
      return parseAddresses(text);
    } catch (error) {
      throw new StepError(`config.${field}: ${error instanceof Error ? error.message : String(error)}.`);
    }
  });
}

function recipientsOf(config: Config): { to: MailAddress[]; cc: MailAddress[]; bcc: MailAddress[] } {
  const to = addressesOf(config, 'to');
  if (to.length === 0) throw new StepError('config.to names nobody.');
  const [cc, bcc] = [addressesOf(config, 'cc'), addressesOf(config, 'bcc')];
  const count = to.length + cc.length + bcc.length;
  if (count > MAX_RECIPIENTS) {
    throw new StepError(`The mail has ${count} recipients; there may be ${MAX_RECIPIENTS}.`);
  }
  return { to, cc, bcc };
}

/** On one line: what was filled in may end in a line break. */
export function subjectOf(config: Config): string {
  const subject = requiredText(config, 'subject')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  if (subject.length <= MAX_SUBJECT_LENGTH) return subject;
  throw new StepError(`config.subject is longer than ${MAX_SUBJECT_LENGTH} characters.`);
}

/** The same for the same attempt, so that a mail that went out before a crash can be recognised. */
function idOf(attemptId: string): string {
  return createHash('sha256').update(attemptId).digest('hex').slice(0, 40);
}

/** {to, subject, body, html?, cc?, bcc?, replyTo?}: sends a mail, which needs one of body and html; {messageId, accepted}. */
export function createEmailSend(mailer: Mailer | undefined): RunNode {
  return async (config, { ctx, attemptId }) => {
    if (!mailer) throw new StepError('Sending mail needs the setting SMTP_URL.');
    const html = optionalText(config, 'html');
    const mail = {
      id: idOf(attemptId),
      ...recipientsOf(config),
      replyTo: addressesOf(config, 'replyTo'),
      subject: subjectOf(config),
      text: html === undefined ? requiredText(config, 'body') : (optionalText(config, 'body') ?? ''),
      html,
    };
    try {
      return await mailer.send(mail, ctx.signal);
    } catch (error) {
      if (error instanceof MailError) throw new StepError(error.message);
      throw error;
    }
  };
}
