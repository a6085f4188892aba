/** Sizes and counts of the protocol between the service and desktop agents. */
export const AGENT_LIMITS = {
  /** Bytes of the JSON text of one result. */
  resultBytes: 5 * 1024 * 1024,
  /** Bytes of one message from an agent: a result and what is around it. */
  messageBytes: 5 * 1024 * 1024 + 1024,
  /** Bytes of the first message, which lists the handlers. */
  helloBytes: 1024 * 1024,
  /** Bytes of one message to an agent: the largest input there can be, and what is around it. */
  callBytes: 11 * 1024 * 1024,
  handlers: 256,
  /** Characters of an error or a reason. */
  textLength: 20_000,
  /** Calls that one agent runs at a time. */
  callsUnderWay: 32,
} as const;
