import { declareSettings, oneOf } from '../platform/config/index.ts';

export const appSettings = declareSettings('Process', {
  ROLE: oneOf(['all', 'api', 'worker'], {
    default: 'all',
    doc: 'What this process does: answer requests (api), run background work (worker), or both. A worker still serves /healthz, /readyz and /metrics.',
  }),
});
