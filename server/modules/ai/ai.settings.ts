import { declareSettings, integer, type SettingsOf } from '../../platform/config/index.ts';

export const aiSettings = declareSettings('AI requests', {
  AI_ANALYZE_MAX_BYTES: integer({
    default: 300_000,
    min: 1000,
    max: 100_000_000,
    doc: 'Bytes of data, as UTF-8, that an analysis shows the model; beyond it rows are left out. At two bytes a token, which dense figures take, the default fits a model of 200,000 tokens.',
  }),
});

export type AiSettings = SettingsOf<typeof aiSettings>;
