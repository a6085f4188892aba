import { createHash } from 'node:crypto';
import { errorMessage } from '../../../platform/errors/index.ts';
import type { Mailer } from '../../../platform/mail/index.ts';
import { StepError, type RunNode } from './node-type.ts';
import { optionalText, requiredText } from './read-config.ts';

const MAX_RECIPIENTS = 100;
const MAX_ERROR_LENGTH = 500;
const ADDRESS = /^(?:[^<>@\r\n]*<)?[^\s<>@,;"]+@[^\s<>@,;"]+>?$/;

/** Addresses of a field: a list, or a text that separates them by commas. */
function addresses(config: Record<string, unknown>, name: string): string[] {
  const value = config[name] ?? [];
  const list: unknown[] = typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value : [value];
  return list.map((each) => {
    const address = typeof each === 'string' ? each.trim() : '';
    if (!ADDRESS.test(address)) throw new StepError(`config.${name} holds something that is no address.`);
    return address;
  });
}

/** {to, subject, body, html?, cc?, bcc?, replyTo?}: {messageId, accepted}. */
export function createEmailSend(mailer: Mailer | undefined): RunNode {
  return async (config, { attemptId, ctx }) => {
    const [to, cc, bcc] = [addresses(config, 'to'), addresses(config, 'cc'), addresses(config, 'bcc')];
    const count = to.length + cc.length + bcc.length;
    if (to.length === 0) throw new StepError('config.to is missing.');
    if (count > MAX_RECIPIENTS) throw new StepError(`A mail goes to at most ${MAX_RECIPIENTS} addresses.`);
    const [replyTo] = addresses(config, 'replyTo');
    const html = optionalText(config, 'html');
    const message = {
      to,
      cc,
      bcc,
      ...(replyTo !== undefined && { replyTo }),
      subject: requiredText(config, 'subject'),
      text: html === undefined ? requiredText(config, 'body') : (optionalText(config, 'body') ?? ''),
      ...(html !== undefined && { html }),
      // The same whenever the attempt is repeated, so that mail programs show it once.
      id: createHash('sha256').update(attemptId).digest('hex').slice(0, 32),
    };
    if (!mailer) throw new StepError('Sending mail needs the setting SMTP_URL.');
    ctx.signal.throwIfAborted();
    try {
      return await mailer.send(message);
    } catch (error) {
      throw new StepError(`The mail was not sent: ${errorMessage(error).slice(0, MAX_ERROR_LENGTH)}`);
    }
  };
}
