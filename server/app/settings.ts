import { aiSettings } from '../modules/ai/index.ts';
import { eventSettings } from '../modules/events/index.ts';
import { graphSettings } from '../modules/graph/index.ts';
import { keySettings } from '../modules/keys/index.ts';
import { knowledgeSettings, readKnowledgeSettings } from '../modules/knowledge/index.ts';
import { modelSettings, readModelSettings } from '../modules/models/index.ts';
import { relaySettings } from '../modules/relay/index.ts';
import { workflowSettings } from '../modules/workflows/index.ts';
import { readSettings, type SettingsDeclaration } from '../platform/config/index.ts';
import { cryptoSettings } from '../platform/crypto/index.ts';
import { dbSettings } from '../platform/db/index.ts';
import { httpSettings, transportOf } from '../platform/http/index.ts';
import { mailSettings } from '../platform/mail/index.ts';
import { netSettings } from '../platform/net/index.ts';
import { telemetrySettings } from '../platform/telemetry/index.ts';
import { appSettings } from './app.settings.ts';

/** Every declaration, in the order of the reference page. */
export const DECLARATIONS: readonly SettingsDeclaration[] = [
  httpSettings,
  dbSettings,
  cryptoSettings,
  keySettings,
  modelSettings,
  aiSettings,
  eventSettings,
  graphSettings,
  knowledgeSettings,
  workflowSettings,
  relaySettings,
  netSettings,
  mailSettings,
  appSettings,
  telemetrySettings,
];

/** Reads every setting at once. Throws one Error that lists all mistakes, a line each. */
export function readAllSettings(env: NodeJS.ProcessEnv) {
  const mistakes: string[] = [];
  const http = readSettings(httpSettings, env, mistakes);
  const settings = {
    http,
    transport: transportOf(http, mistakes),
    db: readSettings(dbSettings, env, mistakes),
    crypto: readSettings(cryptoSettings, env, mistakes),
    keys: readSettings(keySettings, env, mistakes),
    models: readModelSettings(env, mistakes),
    ai: readSettings(aiSettings, env, mistakes),
    events: readSettings(eventSettings, env, mistakes),
    graph: readSettings(graphSettings, env, mistakes),
    knowledge: readKnowledgeSettings(env, mistakes),
    workflows: readSettings(workflowSettings, env, mistakes),
    relay: readSettings(relaySettings, env, mistakes),
    net: readSettings(netSettings, env, mistakes),
    mail: readSettings(mailSettings, env, mistakes),
    app: readSettings(appSettings, env, mistakes),
    telemetry: readSettings(telemetrySettings, env, mistakes),
  };
  if (mistakes.length > 0) throw new SettingsError(mistakes);
  return settings;
}

export type AllSettings = ReturnType<typeof readAllSettings>;

/** What is wrong with the settings, all of it. */
export class SettingsError extends Error {
  constructor(mistakes: readonly string[]) {
    super(['Settings that cannot be used:', ...mistakes.map((mistake) => `  ${mistake}`)].join('\n'));
    this.name = 'SettingsError';
  }
}
