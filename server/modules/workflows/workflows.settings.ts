import { declareSettings, integer } from '../../platform/config/index.ts';

export const workflowSettings = declareSettings('Workflows', {
  RUN_HISTORY_DAYS: integer({
    default: 30,
    min: 1,
    max: 3650,
    doc: 'How long a workflow run can be read after it began. Runs are given up several days at a time: a tenth of these.',
  }),
  RUN_HISTORY_MB: integer({
    default: 20_480,
    min: 10,
    max: 10_000_000,
    doc: 'How much disk the runs may take. Beyond it the oldest that have ended are given up.',
  }),
  RUN_MAX_MINUTES: integer({
    default: 1440,
    min: 1,
    max: 30_000,
    doc: 'How long a workflow run may take, from the beginning of its first step. One that takes longer fails.',
  }),
});
