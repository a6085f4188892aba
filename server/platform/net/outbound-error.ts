/** Why a request was not sent, or has no usable answer. */
export type OutboundFailure = 'refused' | 'unreachable' | 'timeout' | 'too_large' | 'bad_response' | 'aborted';

/** A failed outbound request. The message may be shown to the caller who named the address. */
export class OutboundError extends Error {
  readonly kind: OutboundFailure;

  constructor(kind: OutboundFailure, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'OutboundError';
    this.kind = kind;
  }
}

export function tooLarge(maxBytes: number): OutboundError {
  return new OutboundError('too_large', `The answer is larger than ${maxBytes} bytes.`);
}
