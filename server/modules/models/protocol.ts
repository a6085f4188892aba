import type { ModelAnswer, ModelRequest, ModelUsage } from './types.ts';
import type { JsonObject } from './vendor-json.ts';

/** What a request asks for, with everything that is a matter of settings resolved. */
export interface VendorRequest {
  /** The vendor's own name of the model. */
  upstream: string;
  maxOutputTokens: number;
  stream: boolean;
  /** With the version and without a trailing slash, e.g. `https://host/v1`. */
  baseUrl: string;
  request: Omit<ModelRequest, 'signal' | 'onUsage'>;
}

/** How far an answer has come: what it takes to meter it and to end it. */
export interface AnswerProgress {
  /** Characters of everything written so far: text, thinking, inputs of tools. */
  writtenLength: number;
  /** The vendor's last figures. */
  inputTokens: number | undefined;
  outputTokens: number | undefined;
  /** The model has stopped: all of the answer has been seen, though figures may follow. */
  isWritten: boolean;
  /** The vendor has said its last word; nothing worth waiting for follows. */
  isComplete: boolean;
  /** The vendor's words for why it stopped midway. */
  failure: string | undefined;
}

export function startProgress(): AnswerProgress {
  return {
    writtenLength: 0,
    inputTokens: undefined,
    outputTokens: undefined,
    isWritten: false,
    isComplete: false,
    failure: undefined,
  };
}

/** An answer that is put together event by event. */
export interface AnswerFold {
  readonly progress: AnswerProgress;
  /** Takes in the data of one event; gives the text it adds, '' for none. Never throws: a failure shows in `progress`. */
  take: (data: string) => string;
  /** The answer so far, without usage. */
  answer: () => Omit<ModelAnswer, 'usage'>;
}

/** A vendor's way of asking and answering, over HTTP and JSON. Pure: sends nothing. */
export interface Protocol {
  /** Added to the base URL. */
  path: string;
  headers: (apiKey: string) => Record<string, string>;
  body: (request: VendorRequest) => JsonObject;
  /** Starts to read a streamed answer. */
  startFold: () => AnswerFold;
  /** Reads an answer that came in one piece, as a fold that is complete or has failed. */
  readWhole: (answer: JsonObject) => AnswerFold;
}

/** Characters per token, roughly, of English text; used only where a vendor did not say. */
const CHARACTERS_PER_TOKEN = 4;

function estimateTokens(length: number): number {
  return Math.ceil(length / CHARACTERS_PER_TOKEN);
}

/**
 * The best figures there are for an answer. A vendor that reports nothing, or zeros, is estimated by the length of what
 * went to and fro; the output of an answer that was cut off is at least what was seen of it.
 */
export function usageSoFar(progress: AnswerProgress, requestLength: number): ModelUsage {
  const seen = estimateTokens(progress.writtenLength);
  const reported = progress.outputTokens ?? 0;
  return {
    inputTokens: progress.inputTokens || estimateTokens(requestLength),
    outputTokens: progress.isWritten ? reported || seen : Math.max(reported, seen),
  };
}
