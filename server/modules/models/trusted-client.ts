import type { Readable } from 'node:stream';

export interface VendorResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Readable;
}

/** An HTTP client for addresses that the operator has configured. Aborting the signal also ends the body. */
export interface TrustedClient {
  request: (options: {
    method: 'GET' | 'POST';
    url: string;
    headers: Record<string, string>;
    body?: string;
    headersTimeoutMs: number;
    bodyTimeoutMs: number;
    signal: AbortSignal;
  }) => Promise<VendorResponse>;
}
