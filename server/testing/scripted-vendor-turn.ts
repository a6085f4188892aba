/** What the scripted vendor does with one request. */
export type VendorTurn = AnswerTurn | RefusalTurn | HangTurn | ReplayTurn;

/** Answers as a model would, whole or streamed, as the request asks. */
export interface AnswerTurn {
  /** The text, or its fragments as they are streamed. */
  text?: string | string[];
  toolCalls?: { id?: string; name: string; input: unknown }[];
  /** Tokens; by default a quarter of the characters that go to and fro. */
  usage?: { inputTokens: number; outputTokens: number };
  /** Pause before each fragment. Without it everything is written at once. */
  paceMs?: number;
  /** Goes wrong after so many fragments: cuts the connection, says nothing more, or sends an error event. */
  breakAfter?: { fragments: number; how: 'cut' | 'hang' | 'error'; message?: string };
  /** Why the model stopped, in the vendor's own word; by default `end_turn`, `stop`, or that tools are called. */
  stopReason?: string;
}

/** Refuses, with a body as the vendor writes it. */
interface RefusalTurn {
  status: number;
  message?: string;
  headers?: Record<string, string>;
  /** Replaces the vendor's form. */
  body?: string;
}

/** Takes the request and never answers. */
interface HangTurn {
  hang: true;
}

/** Sends recorded bytes as they are. */
export interface ReplayTurn {
  replay: Uint8Array;
  /** Offsets at which the bytes are cut into separate writes, or all of them. */
  cuts?: number[] | 'every-byte';
  contentType?: string;
}

/** A request that the scripted vendor has received. */
export interface VendorRequestRecord {
  protocol: 'anthropic' | 'openai';
  path: string;
  headers: Record<string, string | string[] | undefined>;
  /** The parsed body. */
  body: Record<string, unknown>;
  /** Characters of the body. */
  length: number;
}
