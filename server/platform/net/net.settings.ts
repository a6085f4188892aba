import { declareSettings, list, oneOf } from '../config/index.ts';

export const netSettings = declareSettings('Outbound requests', {
  OUTBOUND_PRIVATE: oneOf(['auto', 'allow', 'deny'], {
    default: 'auto',
    doc: 'Whether tools may reach loopback, private and other special addresses. auto: only while HOST is a loopback address.',
  }),
  OUTBOUND_ALLOW: list({
    default: [],
    defaultText: 'none',
    doc: 'Host names, addresses and CIDRs that tools may always reach, such as intranet.example, 10.1.0.0/16.',
  }),
});
