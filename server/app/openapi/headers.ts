/** Headers of answers, with what they say. */
const HEADERS = {
  'X-RateLimit-Limit': {
    description: 'Requests per minute that the API key has.',
    schema: { type: 'integer', examples: [100] },
  },
  'X-RateLimit-Remaining': { description: 'Requests left of them.', schema: { type: 'integer', examples: [97] } },
  'X-RateLimit-Reset': {
    description: 'When more are allowed, in Unix seconds.',
    schema: { type: 'integer', examples: [1769847360] },
  },
  'X-Request-Id': {
    description: 'Names the request in the log. A value of 8 to 64 plain characters that the request sends is kept.',
    schema: { type: 'string', examples: ['req_01kagc2y5jv6f3w9c0m4x7t8zb'] },
  },
  'Retry-After': { description: 'Seconds to wait before trying again.', schema: { type: 'integer', examples: [12] } },
} as const;

type HeaderName = keyof typeof HEADERS;

/** Headers of every answer. */
export const ANSWER_HEADERS: readonly HeaderName[] = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
];

/** References to the components of these headers. */
export function headersOf(names: readonly HeaderName[]): Record<string, { $ref: string }> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** The components that those references point to. */
export function headerComponents(): Record<string, object> {
  return HEADERS;
}
