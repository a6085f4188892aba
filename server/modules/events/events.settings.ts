import { declareSettings, integer } from '../../platform/config/index.ts';

export const eventSettings = declareSettings('Events and logs', {
  CALL_LOG_DAYS: integer({
    default: 30,
    min: 1,
    max: 3650,
    doc: 'How long the log of API calls is kept. It is given up a whole UTC day at a time.',
  }),
  DELIVERY_LOG_DAYS: integer({
    default: 30,
    min: 1,
    max: 3650,
    doc: 'How long a webhook delivery can be read and sent again after its last attempt.',
  }),
});
