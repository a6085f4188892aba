import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** What the server was asked. */
interface EmbeddingRequest {
  path: string | undefined;
  authorization: string | undefined;
  model: unknown;
  input: string[];
}

/** An answer that is not the vectors of the texts. */
interface EmbeddingReply {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
  /** Closes the connection in the middle of the answer. */
  isCut?: boolean;
}

export type EmbeddingScript = (
  request: EmbeddingRequest,
  index: number,
) => EmbeddingReply | undefined | Promise<EmbeddingReply | undefined>;

interface EmbeddingServerOptions {
  dimensions?: number;
  /** Chooses another answer for a request; undefined for the vectors. */
  script?: EmbeddingScript;
}

export interface EmbeddingServer {
  /** For EMBEDDINGS_BASE_URL. */
  baseUrl: string;
  /** Everything asked so far, oldest first. */
  requests: EmbeddingRequest[];
  /** Replaces the script. */
  answerWith: (script: EmbeddingScript | undefined) => void;
  close: () => Promise<void>;
}

const DEFAULT_DIMENSIONS = 384;

/** A vector of one word: numbers from -1 to 1 that its hash decides. */
function wordVector(word: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  for (let at = 0, block = 0; at < dimensions; block++) {
    const bytes = createHash('sha256').update(`${block} ${word}`).digest();
    for (const byte of bytes) if (at < dimensions) vector[at++] = (byte - 127.5) / 127.5;
  }
  return vector;
}

/** The sum of the words' vectors: texts that share words are close. Not of unit length, as with many servers. */
export function wordsVector(text: string, dimensions = DEFAULT_DIMENSIONS): number[] {
  const sum = new Float32Array(dimensions);
  for (const word of text.toLowerCase().match(/\p{Script=Han}|[\p{L}\p{N}]+/gu) ?? [text]) {
    for (const [i, value] of wordVector(word, dimensions).entries()) sum[i] = (sum[i] ?? 0) + value;
  }
  return [...sum];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

async function readRequest(request: IncomingMessage): Promise<EmbeddingRequest> {
  const parts: Buffer[] = [];
  for await (const part of request) if (Buffer.isBuffer(part)) parts.push(part);
  const parsed: unknown = JSON.parse(Buffer.concat(parts).toString('utf8'));
  const { model, input } = isRecord(parsed) ? parsed : {};
  return {
    path: request.url,
    authorization: request.headers.authorization,
    model,
    input: Array.isArray(input) ? input.map(String) : [],
  };
}

function vectorsBody(texts: readonly string[], dimensions: number): string {
  const data = texts.map((text, index) => ({ object: 'embedding', index, embedding: wordsVector(text, dimensions) }));
  // The order is the index's business, as the protocol has it.
  return JSON.stringify({ object: 'list', data: data.toReversed(), usage: { prompt_tokens: 1, total_tokens: 1 } });
}

function send(response: ServerResponse, reply: EmbeddingReply, body: string): void {
  response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers });
  if (!reply.isCut) {
    response.end(body);
    return;
  }
  response.write(body.slice(0, body.length >> 1), () => response.destroy());
}

/** Starts a server on loopback that speaks OpenAI's embeddings API: equal words, equal vectors. */
export async function startEmbeddingServer(options: EmbeddingServerOptions = {}): Promise<EmbeddingServer> {
  const dimensions = options.dimensions ?? DEFAULT_DIMENSIONS;
  const requests: EmbeddingRequest[] = [];
  let script = options.script;
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const asked = await readRequest(request);
    requests.push(asked);
    const reply = (await script?.(asked, requests.length - 1)) ?? {};
    send(response, reply, reply.body ?? vectorsBody(asked.input, dimensions));
  };
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  return {
    baseUrl: `http://127.0.0.1:${address.port}/v1`,
    requests,
    answerWith: (next) => {
      script = next;
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
