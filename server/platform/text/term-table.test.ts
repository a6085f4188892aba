import { expect, test } from 'vitest';
import { TermTable } from './term-table.ts';

test('each term keeps its number as the table grows, and after it is read back', () => {
  const table = new TermTable();
  const terms = Array.from({ length: 50_000 }, (_, i) => `term ${i.toString(36)} 词${i}`);
  for (const [no, term] of terms.entries()) expect(table.add(term)).toBe(no);
  const readBack = new TermTable(table.parts);
  for (const [no, term] of terms.entries()) {
    expect(table.add(term)).toBe(no);
    expect(readBack.find(term)).toBe(no);
  }
  expect([readBack.count, readBack.find('another'), readBack.find('')]).toEqual([50_000, -1, -1]);
});
