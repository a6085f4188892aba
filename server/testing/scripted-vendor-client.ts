import { Agent, request } from 'undici';
import type { TrustedClient } from '../modules/models/trusted-client.ts';

/** A plain HTTP client for calls to the scripted vendor, where a test is not about the client. */
export function createLoopbackClient(): TrustedClient & { close: () => Promise<void> } {
  const agent = new Agent();
  return {
    request: async ({ url, method, headers, body, headersTimeoutMs, bodyTimeoutMs, signal }) => {
      const response = await request(url, {
        method,
        headers,
        ...(body !== undefined && { body }),
        signal,
        headersTimeout: headersTimeoutMs,
        bodyTimeout: bodyTimeoutMs,
        dispatcher: agent,
      });
      return { status: response.statusCode, headers: response.headers, body: response.body };
    },
    close: () => agent.destroy(),
  };
}
