import type { Clock } from '../../platform/clock/index.ts';
import type { Vault } from '../../platform/crypto/index.ts';
import type { Database } from '../../platform/db/index.ts';
import type { Outbound } from '../../platform/net/index.ts';
import type { SendMessage } from './deliveries/send-message.ts';

/** What the endpoints of webhooks work with. */
export interface EventParts {
  database: Database;
  vault: Vault;
  outbound: Outbound;
  attempt: SendMessage;
  clock?: Clock;
}
