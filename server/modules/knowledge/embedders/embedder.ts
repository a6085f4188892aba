/** Turns texts into vectors whose scalar product says how close their meanings are. */
export interface Embedder {
  /** Names what its vectors mean; vectors of different models are not compared. */
  readonly model: string;
  /**
   * Unit vectors in the order of the texts; null where the model has nothing to say of a text (empty, or in a script
   * that it does not know). Throws when it cannot answer now, and what the signal was aborted with.
   */
  embed: (texts: readonly string[], purpose: EmbeddingPurpose, signal: AbortSignal) => Promise<(Float32Array | null)[]>;
  /** Gives up what is under way and everything held. */
  close: () => Promise<void>;
}

/** Some models embed what is searched for unlike what is found. */
export type EmbeddingPurpose = 'passage' | 'query';
