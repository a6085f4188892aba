import { randomBytes } from 'node:crypto';

/**
 * An id for a tool call to which the vendor gave none. Random, because calls of all steps of a conversation are sent
 * back together and must not be mixed up.
 */
export function createCallId(): string {
  return `call_${randomBytes(12).toString('hex')}`;
}
