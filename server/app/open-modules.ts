import type { Logger } from 'pino';
import { createAi, type Ai } from '../modules/ai/index.ts';
import { createApps, type Apps } from '../modules/apps/index.ts';
import {
  createCallLog,
  createSender,
  raiseDailyLimits,
  type CallLog,
  type EventParts,
} from '../modules/events/index.ts';
import { createGraphs, type Graphs } from '../modules/graph/index.ts';
import { createKeys, type Keys } from '../modules/keys/index.ts';
import { createEmbedder, createKnowledge, type Knowledge } from '../modules/knowledge/index.ts';
import { createModels, type Models } from '../modules/models/index.ts';
import { createRelay, type Relay } from '../modules/relay/index.ts';
import { createTools, type Tools } from '../modules/tools/index.ts';
import { createNodeChecks, createNodeTypes, createWorkflows, type Workflows } from '../modules/workflows/index.ts';
import { createVault, openMasterKeys, type Vault } from '../platform/crypto/index.ts';
import { isLoopbackHost } from '../platform/http/index.ts';
import { createMailer } from '../platform/mail/index.ts';
import { createOutbound, createTrustedClient } from '../platform/net/index.ts';
import { createEventRecorder } from '../platform/outbox/index.ts';
import type { Metrics } from '../platform/telemetry/index.ts';
import type { Storage } from './open-storage.ts';
import type { AllSettings } from './settings.ts';

/** The modules of a process that answers requests. */
export interface Modules {
  keys: Keys;
  callLog: CallLog;
  models: Models;
  graphs: Graphs;
  knowledge: Knowledge;
  relay: Relay;
  tools: Tools;
  apps: Apps;
  ai: Ai;
  events: EventParts;
  workflows: Workflows;
  /** Writes what is buffered and lets go of connections. */
  close: () => Promise<void>;
}

interface Parts {
  settings: AllSettings;
  storage: Storage;
  metrics: Metrics;
  log: Logger;
}

/** `auto` opens private addresses only while nobody else can reach the service itself. */
function mayReachPrivate({ net, http }: AllSettings): boolean {
  return net.OUTBOUND_PRIVATE === 'auto' ? isLoopbackHost(http.HOST) : net.OUTBOUND_PRIVATE === 'allow';
}

function openModels({ settings, metrics }: Parts, http: ReturnType<typeof createTrustedClient>): Models {
  return createModels({
    settings: settings.models,
    http,
    onCall: ({ vendor, outcome, durationMs, usage }) => {
      metrics.modelCalls.observe({ vendor, outcome }, durationMs / 1000);
      metrics.tokens.inc({ vendor, direction: 'input' }, usage.inputTokens);
      metrics.tokens.inc({ vendor, direction: 'output' }, usage.outputTokens);
    },
  });
}

async function openVault({ crypto, db }: AllSettings): Promise<Vault> {
  return createVault(await openMasterKeys({ given: crypto.ENCRYPTION_KEY, dataDir: db.DATA_DIR }));
}

async function openKnowledge(parts: Parts, client: ReturnType<typeof createTrustedClient>): Promise<Knowledge> {
  const { settings, storage, log } = parts;
  return createKnowledge({
    database: storage.database,
    changes: storage.changes,
    log,
    memoryMb: settings.graph.HOT_INDEX_MB,
    dataDir: settings.db.DATA_DIR,
    answersQueries: settings.app.ROLE !== 'worker',
    embedder: await createEmbedder({ settings: settings.knowledge.embeddings, client }),
  });
}

/** Wires the modules to each other: what one needs of another is handed over here and nowhere else. */
export async function openModules(parts: Parts): Promise<Modules> {
  const { settings, storage, log } = parts;
  const { database, changes } = storage;
  const vault = await openVault(settings);
  const keys = await createKeys({ database, changes, settings: settings.keys, log, onDailyUse: raiseDailyLimits });
  const callLog = await createCallLog({ database, log });
  const vendors = createTrustedClient();
  const policy = { allowPrivate: mayReachPrivate(settings), allow: settings.net.OUTBOUND_ALLOW };
  const outbound = createOutbound({ policy });
  const recorder = createEventRecorder({ database, log });
  const models = openModels(parts, vendors);
  const relay = createRelay({ database, changes, log, timeoutMs: settings.relay.HANDLER_TIMEOUT_SECONDS * 1000 });
  const tools = createTools({
    database,
    changes,
    outbound,
    relay,
    recordEvents: recorder.record,
    bindingOf: (definition) => apps.bindingOf(definition),
    log,
  });
  const graphs = createGraphs({ database, log, memoryMb: settings.graph.HOT_INDEX_MB });
  const knowledge = await openKnowledge(parts, vendors);
  const apps = createApps({ database, changes, vault, tools });
  const ai = createAi({ database, models, tools, apps, settings: settings.ai, log });
  const mailer = createMailer(settings.mail);
  const nodeParts = { ai, tools, outbound, mailer };
  const workflows = createWorkflows({
    database,
    url: storage.url,
    callerOf: keys.callerOf,
    nodeTypes: createNodeTypes(nodeParts),
    nodeChecks: createNodeChecks(nodeParts),
    settings: settings.workflows,
    log,
  });
  return {
    keys,
    callLog,
    models,
    graphs,
    knowledge,
    relay,
    tools,
    apps,
    ai,
    events: { database, vault, outbound, attempt: createSender({ outbound, vault }) },
    workflows,
    close: async () => {
      await workflows.close();
      mailer?.close();
      await ai.close();
      await Promise.all([graphs.close(), knowledge.close()]);
      await relay.close();
      await recorder.close();
      await Promise.all([keys.close(), callLog.close()]);
      await Promise.all([vendors.close(), outbound.close()]);
    },
  };
}
