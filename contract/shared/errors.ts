/** Every error code a caller can meet, with its HTTP status and the sentence that the reference prints. */
export const ERROR_CODES = {
  INVALID_REQUEST: { status: 400, doc: 'A field is missing, of the wrong type or out of range; the message names it.' },
  INVALID_JSON: { status: 400, doc: 'The body is not well-formed JSON, or nested too deeply.' },
  AI_NOT_CONFIGURED: { status: 400, doc: 'No API key is configured for the AI model that was asked for.' },
  UNAUTHORIZED: { status: 401, doc: 'The API key is missing, unknown or revoked.' },
  FORBIDDEN: { status: 403, doc: 'The API key lacks the permission that the operation needs.' },
  MODEL_NOT_ALLOWED: { status: 403, doc: 'The tier of the API key does not include this model.' },
  NOT_FOUND: { status: 404, doc: 'There is no such resource, or it belongs to somebody else.' },
  CONFLICT: { status: 409, doc: 'The change contradicts the present state.' },
  PAYLOAD_TOO_LARGE: { status: 413, doc: 'The body exceeds the size limit of the endpoint.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, doc: 'The body is not sent as Content-Type: application/json.' },
  RATE_LIMITED: { status: 429, doc: 'The per-minute or per-day limit is used up; wait as long as Retry-After says.' },
  AI_CALL_FAILED: { status: 500, doc: 'The AI vendor failed or answered nonsense; the message says what is known.' },
  TOOL_FAILED: { status: 500, doc: 'The tool ran and failed; the message says how.' },
  INTERNAL_ERROR: { status: 500, doc: 'A fault of the service; the request id in the answer finds it in the log.' },
  UNAVAILABLE: {
    status: 503,
    doc: 'The service is starting, stopping, without its database or full of large bodies; try again shortly.',
  },
} as const satisfies Record<string, { status: number; doc: string }>;

export type ErrorCode = keyof typeof ERROR_CODES;
