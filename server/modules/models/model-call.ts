import { AppError } from '../../platform/errors/index.ts';
import type { BodyReader } from './body-reader.ts';
import type { Release } from './call-queue.ts';
import { usageSoFar, type AnswerFold } from './protocol.ts';
import { sendRequest } from './send-request.ts';
import { createSseReader, type SseReader } from './sse-events.ts';
import { ownToolNames, vendorMessages, vendorTools } from './tool-names.ts';
import type { ModelAnswer, ModelRequest, ModelUsage } from './types.ts';
import { brokenAnswer, connectionFailure, stopped, type FailedCall } from './vendor-failure.ts';
import { asObject, parseJson } from './vendor-json.ts';
import type { CallOutcome, Vendor } from './vendor.ts';

/**
 * One call of a model from the wait for a slot to the last byte. Whatever way it ends, `close` gives back the slot,
 * closes the connection and reports what was used; an aborted signal does so at once, whether or not anybody reads on.
 */
export class ModelCall {
  readonly #vendor: Vendor;
  readonly #request: ModelRequest;
  readonly #isStream: boolean;
  readonly #startedMs: number;
  #release: Release = () => {};
  #body: BodyReader | undefined;
  #events: SseReader | undefined;
  #fold: AnswerFold;
  readonly #fragments: string[] = [];
  #requestLength = 0;
  #usage: ModelUsage = { inputTokens: 0, outputTokens: 0 };
  #outcome: CallOutcome = 'abandoned';
  #isClosed = false;

  constructor(vendor: Vendor, request: ModelRequest, isStream: boolean) {
    this.#vendor = vendor;
    this.#request = request;
    this.#isStream = isStream;
    this.#startedMs = vendor.clock.steadyMs();
    this.#fold = vendor.protocol.startFold();
  }

  /** Waits for a slot and sends the request; resolves when the vendor begins to answer with success. */
  async open(): Promise<void> {
    const { queue, priority, transport } = this.#vendor;
    const { signal } = this.#request;
    this.#release = await queue.acquire(priority, signal);
    signal.addEventListener('abort', this.close);
    const body = this.#requestBody();
    this.#requestLength = body.length;
    this.#report();
    const outcome = await sendRequest(transport, { ...this.#target(), headers: this.#headers(), body, signal });
    if (!outcome.isAnswered) {
      if (outcome.isUnused) this.#requestLength = 0;
      throw outcome.error;
    }
    this.#body = outcome.body;
    // A client that overlooked the signal would leave the connection open.
    if (this.#isClosed) outcome.body.destroy();
    signal.throwIfAborted();
    if (!outcome.isEventStream || !this.#isStream) await this.#readWhole(outcome.body);
    else this.#events = createSseReader((data) => this.#takeEvent(data));
  }

  #target(): FailedCall & { url: string } {
    const { baseUrl, apiKey, protocol, timeoutMs, idleTimeoutMs } = this.#vendor;
    return {
      url: baseUrl + protocol.path,
      upstream: this.#request.model,
      apiKey: apiKey.reveal(),
      timeoutMs,
      idleTimeoutMs,
    };
  }

  #headers(): Record<string, string> {
    return {
      ...this.#vendor.protocol.headers(this.#vendor.apiKey.reveal()),
      'content-type': 'application/json',
      accept: this.#isStream ? 'text/event-stream' : 'application/json',
    };
  }

  #requestBody(): string {
    const { model, messages, tools, maxOutputTokens = Infinity } = this.#request;
    const body = this.#vendor.protocol.body({
      upstream: model,
      maxOutputTokens: Math.min(maxOutputTokens, this.#vendor.maxOutputTokens),
      stream: this.#isStream,
      baseUrl: this.#vendor.baseUrl,
      request: { ...this.#request, messages: vendorMessages(messages), tools: vendorTools(tools) },
    });
    return JSON.stringify(body);
  }

  /** An answer in one piece, which some servers give to streaming requests too. */
  async #readWhole(body: BodyReader): Promise<void> {
    const answer = parseJson((await body.readAll()).toString('utf8'));
    this.#fold = this.#vendor.protocol.readWhole(asObject(answer));
    const { text } = this.#fold.answer();
    if (text !== '') this.#fragments.push(text);
  }

  #takeEvent(data: string): void {
    const text = this.#fold.take(data);
    if (text !== '') this.#fragments.push(text);
  }

  /**
   * The text of the bytes that are there, in the vendor's pieces: none when more is to be waited for, undefined when
   * the answer is over. Throws when it failed.
   */
  takeFragments(): string[] | undefined {
    const { progress } = this.#fold;
    for (;;) {
      if (this.#fragments.length > 0) return this.#fragments.splice(0);
      if (progress.failure !== undefined) throw brokenAnswer(progress.failure, this.#target());
      if (progress.isComplete) return undefined;
      const bytes = this.#body?.take();
      if (!bytes) return this.#body?.isEnded ? undefined : [];
      this.#events?.push(bytes);
      if (progress.inputTokens !== undefined && this.#isNews()) this.#report();
    }
  }

  /** Resolves when `takeFragments`, which has just given none, should be asked again. */
  async arrival(): Promise<void> {
    await this.#body?.arrival();
  }

  /** The complete answer. Throws when there is none, because the stream ended early or the vendor failed. */
  finish(): ModelAnswer {
    const { progress } = this.#fold;
    if (progress.failure !== undefined) throw brokenAnswer(progress.failure, this.#target());
    if (!progress.isWritten) throw brokenAnswer('it ended before it was complete.', this.#target());
    this.#outcome = 'finished';
    this.close();
    const answer = this.#fold.answer();
    return { ...answer, toolCalls: ownToolNames(answer.toolCalls, this.#request.tools), usage: this.#usage };
  }

  /** The error to throw for whatever went wrong. */
  failed(error: unknown): AppError {
    if (this.#request.signal.aborted) return stopped(this.#request.signal.reason);
    this.#outcome = 'failed';
    return error instanceof AppError ? error : connectionFailure(error, this.#target());
  }

  /** Ends the call. Safe to call again. */
  readonly close = (): void => {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#request.signal.removeEventListener('abort', this.close);
    if (this.#outcome === 'finished') void this.#body?.drain();
    else this.#body?.destroy();
    this.#release();
    this.#report();
    this.#vendor.onCall?.({
      vendor: this.#vendor.name,
      model: this.#request.model,
      outcome: this.#outcome,
      durationMs: this.#vendor.clock.steadyMs() - this.#startedMs,
      usage: this.#usage,
    });
  };

  #isNews(): boolean {
    const { inputTokens, outputTokens } = this.#fold.progress;
    return inputTokens !== this.#usage.inputTokens || (outputTokens ?? 0) > this.#usage.outputTokens;
  }

  #report(): void {
    const usage = usageSoFar(this.#fold.progress, this.#requestLength);
    if (usage.inputTokens === this.#usage.inputTokens && usage.outputTokens === this.#usage.outputTokens) return;
    this.#usage = usage;
    this.#request.onUsage?.(usage);
  }
}
