// What texts are compared by when words are ranked: normalised, stemmed words, and pairs of ideographs; and numbers for
// them. Used by the choice of tools, knowledge and graphs; anything else that ranks texts should take the same terms.
// Must not know what is ranked, nor how.
export { termsOf } from './terms.ts';
export { TermTable } from './term-table.ts';
