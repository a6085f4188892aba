/** A passage of a document: what is found, and shown. */
export interface Chunk {
  /** In the content, in UTF-16 code units; the end is exclusive. */
  start: number;
  end: number;
  /** The headings above it, outermost first, a line each; matched, but not part of the text. */
  heading: string;
}
