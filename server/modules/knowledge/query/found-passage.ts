/** A passage that a query found. */
export interface FoundPassage {
  text: string;
  /** Title of the document. */
  source: string;
  metadata: Record<string, unknown>;
  documentId: string;
  score: number;
  /** In the content, in UTF-16 code units. */
  start: number;
  end: number;
}

/** What is asked of a base. */
export interface Question {
  text: string;
  limit: number;
  /** Values that the metadata of a document must have; see `matchesFilter`. */
  filter?: Record<string, unknown> | undefined;
}
