import { declareSettings, integer } from '../../platform/config/index.ts';

export const relaySettings = declareSettings('Desktop agents', {
  HANDLER_TIMEOUT_SECONDS: integer({
    default: 60,
    min: 1,
    max: 600,
    doc: 'How long a handler tool may take on its desktop agent.',
  }),
});
