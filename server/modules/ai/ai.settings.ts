import { declareSettings, integer, type SettingsOf } from '../../platform/config/index.ts';

export const aiSettings = declareSettings('AI requests', {
  AI_TOOL_CHOICE_ABOVE: integer({
    default: 40,
    min: 1,
    max: 1000,
    doc: 'A chat with more tools than this is offered those whose names and descriptions fit its message best.',
  }),
  AI_TOOL_CHOICE_SIZE: integer({
    default: 20,
    min: 1,
    max: 128,
    doc: 'How many tools such a chat is offered.',
  }),
  AI_ANALYZE_MAX_BYTES: integer({
    default: 300_000,
    min: 1000,
    max: 100_000_000,
    doc: 'Bytes of data, as UTF-8, that an analysis shows the model; beyond it rows are left out. At two bytes a token, which dense figures take, the default fits a model of 200,000 tokens.',
  }),
});

export type AiSettings = SettingsOf<typeof aiSettings>;
