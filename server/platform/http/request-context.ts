import type { ServerResponse } from 'node:http';
import type { Permission, Tier } from '../../../contract/shared/tiers.ts';

/** Whose key a request carries. The tenant of everything the request touches is `developerId`. */
export interface Caller {
  keyId: string;
  developerId: string;
  permissions: readonly Permission[];
  tier: Tier;
  /** True for keys of the first developer, who administers the installation. */
  isOperator: boolean;
}

/** What a handler knows of the request beside its input. */
export interface RequestContext {
  readonly requestId: string;
  readonly caller: Caller;
  /** Aborted when the client leaves before the answer is complete, or the service stops waiting for it. */
  readonly signal: AbortSignal;
  /** Of events that the request causes, when it is not a request but a step of a workflow; see `NewEvent.depth`. */
  readonly depth?: number;
}

/** A context whose signal is made only when somebody asks for it: most requests never do. */
export class HttpRequestContext implements RequestContext {
  readonly requestId: string;
  readonly caller: Caller;
  readonly #response: ServerResponse;
  #abort: AbortController | undefined;

  constructor(requestId: string, caller: Caller, response: ServerResponse) {
    this.requestId = requestId;
    this.caller = caller;
    this.#response = response;
  }

  get signal(): AbortSignal {
    if (this.#abort) return this.#abort.signal;
    const abort = new AbortController();
    this.#abort = abort;
    const response = this.#response;
    if (response.destroyed) abort.abort();
    else response.once('close', () => response.writableFinished || abort.abort());
    return abort.signal;
  }
}
