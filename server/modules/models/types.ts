/** A call of a tool that the model asks for. */
export interface ToolCall {
  /** The vendor's id of the call; the result is sent back under it. Never empty. */
  id: string;
  name: string;
  /** What the model wants to pass; empty when it wrote something that is not a JSON object. */
  input: Record<string, unknown>;
  /** What the model wrote instead of a JSON object. The tool must not be run then. */
  invalidInput?: string;
}

export interface ToolResult {
  callId: string;
  name: string;
  text: string;
  isError: boolean;
}

/** One turn of a conversation, in no vendor's form. */
export type ModelMessage =
  | { role: 'user'; text: string }
  | {
      role: 'assistant';
      text: string;
      toolCalls: ToolCall[];
      /**
       * `raw` of the answer that this turn was: what only its vendor understands (signed thinking, server tools).
       * Sent back word for word within a tool loop; a model of another protocol ignores it.
       */
      raw?: unknown;
    }
  | { role: 'tool'; results: ToolResult[] };

/** A tool that is offered to the model. */
export interface ModelTool {
  name: string;
  description: string;
  /** JSON Schema of an object. */
  inputSchema: Record<string, unknown>;
}

/** Tokens of one call. */
export interface ModelUsage {
  /** All input, read from the vendor's cache or not. */
  inputTokens: number;
  outputTokens: number;
}

export interface ModelRequest {
  /** The vendor's name of the model: `upstream` of what `resolve` gives. */
  model: string;
  system: string;
  messages: ModelMessage[];
  tools: ModelTool[];
  /** `none` keeps the tools known, for the sake of calls already made, but forbids a new call. */
  toolChoice: 'auto' | 'none';
  /** Tokens; the setting AI_MAX_OUTPUT_TOKENS when absent, and never more than that. */
  maxOutputTokens?: number;
  /** Asks for an answer that is JSON and nothing else. The answer still has to be parsed with care. */
  jsonOutput?: boolean;
  /** Closes the connection to the vendor at once. */
  signal: AbortSignal;
  /**
   * Called whenever better figures are known: an estimate when the request is sent, then what the vendor says, and
   * what was used up so far when the call fails, is aborted or its stream is abandoned. The last call holds.
   */
  onUsage?: (usage: ModelUsage) => void;
}

export type StopReason = 'stop' | 'tools' | 'length' | 'refused' | 'other';

/** A complete answer of a model. */
export interface ModelAnswer {
  text: string;
  toolCalls: ToolCall[];
  usage: ModelUsage;
  stopReason: StopReason;
  /** For `raw` of the assistant message that repeats this answer to the same model. */
  raw: unknown;
}

export interface TextFragment {
  type: 'text';
  text: string;
}

/** A language model, of whatever vendor. */
export interface Model {
  /** Gives the whole answer. Throws AppError AI_CALL_FAILED; UNAVAILABLE when too many calls wait already. */
  generate: (request: ModelRequest) => Promise<ModelAnswer>;
  /**
   * Yields the answer's text as it is written and returns the answer; throws as `generate` does, also midway.
   * The vendor is read no faster than the fragments are taken. To stop early, abort `signal`, or call `return`
   * (which takes effect at the next fragment); both close the connection.
   */
  stream: (request: ModelRequest) => AsyncGenerator<TextFragment, ModelAnswer, undefined>;
}
