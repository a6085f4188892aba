import { declareSettings, list, oneOf } from '../config/index.ts';
import { parseAllowEntry } from './allow-list.ts';

const hosts = list({
  default: [],
  defaultText: 'none',
  doc: 'Host names, addresses and CIDRs that tools may always reach, such as intranet.example, 10.1.0.0/16.',
});

export const netSettings = declareSettings('Outbound requests', {
  OUTBOUND_PRIVATE: oneOf(['auto', 'allow', 'deny'], {
    default: 'auto',
    doc: 'Whether tools may reach loopback, private and other special addresses. auto: only while HOST is a loopback address.',
  }),
  OUTBOUND_ALLOW: {
    ...hosts,
    parse: (raw: string | undefined) => {
      const entries = hosts.parse(raw);
      // A misspelt entry would open nothing and say nothing.
      for (const entry of entries) parseAllowEntry(entry);
      return entries;
    },
  },
});
