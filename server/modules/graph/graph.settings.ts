import { declareSettings, integer } from '../../platform/config/index.ts';

export const graphSettings = declareSettings('Memory', {
  HOT_INDEX_MB: integer({
    default: 512,
    min: 0,
    max: 1_000_000,
    doc: 'Megabytes of graphs, and as many of knowledge bases, that a process holds in memory; the least recently used go beyond that, and the database answers for what does not fit.',
  }),
});
