import type { ModelUsage } from '../models/index.ts';

/** Tokens of one chat over all its model steps, the step under way included as far as it is known. */
export class UsageTally {
  #inputTokens = 0;
  #outputTokens = 0;
  #underWay: ModelUsage | undefined;
  #steps = 0;

  /** Begins a step. The function takes what is known of its usage while it runs. */
  beginStep(): (known: ModelUsage) => void {
    this.#steps++;
    this.#underWay = undefined;
    return (known) => {
      this.#underWay = known;
    };
  }

  /** Ends a step with its final usage. */
  endStep(usage: ModelUsage): void {
    this.#inputTokens += usage.inputTokens;
    this.#outputTokens += usage.outputTokens;
    this.#underWay = undefined;
  }

  get steps(): number {
    return this.#steps;
  }

  get total(): ModelUsage {
    return {
      inputTokens: this.#inputTokens + (this.#underWay?.inputTokens ?? 0),
      outputTokens: this.#outputTokens + (this.#underWay?.outputTokens ?? 0),
    };
  }
}
