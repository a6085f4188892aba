import type { Logger } from 'pino';
import type { Database } from '../../platform/db/index.ts';
import type { Apps } from '../apps/index.ts';
import type { Models } from '../models/index.ts';
import type { Tools } from '../tools/index.ts';
import type { AiSettings } from './ai.settings.ts';
import { createChatLedger, type ChatLedger } from './chat-ledger.ts';

export interface AiOptions {
  database: Database;
  models: Models;
  tools: Tools;
  apps: Apps;
  settings: AiSettings;
  log: Logger;
}

/** What every part of this module works with. */
export interface AiDependencies extends AiOptions {
  ledger: ChatLedger;
}

export interface Ai extends AiDependencies {
  /** Writes what is not written yet. */
  close: () => Promise<void>;
}

export function createAi(options: AiOptions): Ai {
  const ledger = createChatLedger(options);
  return { ...options, ledger, close: () => ledger.close() };
}
