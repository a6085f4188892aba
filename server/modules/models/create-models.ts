import { setTimeout as sleep } from 'node:timers/promises';
import type { Tier } from '../../../contract/shared/tiers.ts';
import { systemClock, type Clock } from '../../platform/clock/index.ts';
import { AppError } from '../../platform/errors/index.ts';
import { anthropicMessages } from './anthropic-messages.ts';
import { CallQueue, type Priority } from './call-queue.ts';
import { HttpModel } from './http-model.ts';
import { ModelCatalog } from './model-catalog.ts';
import type { ModelSettings } from './models.settings.ts';
import { openAiChat } from './openai-chat.ts';
import type { Protocol } from './protocol.ts';
import type { Transport } from './send-request.ts';
import type { Model } from './types.ts';
import type { ProtocolName } from './vendor-settings.ts';
import type { CallFacts } from './vendor.ts';

const PROTOCOLS_BY_NAME: Record<ProtocolName, Protocol> = { anthropic: anthropicMessages, openai: openAiChat };

export interface ModelsOptions {
  settings: ModelSettings;
  http: Transport['http'];
  /** Called once for every call of a model, when it is over. */
  onCall?: (facts: CallFacts) => void;
  /** Replaced in tests. */
  clock?: Clock;
  sleep?: Transport['sleep'];
  random?: Transport['random'];
}

export interface ResolvedModel {
  /** The name that callers use; goes into answers and events. */
  name: string;
  /** The vendor's name; goes into `ModelRequest.model`. */
  upstream: string;
  /** Calls the vendor, in the order of precedence that the tier has. */
  model: Model;
}

export interface Models {
  /**
   * The model of that public name, or the default model. Throws AppError INVALID_REQUEST (it names the models there
   * are), MODEL_NOT_ALLOWED (not in the tier) or AI_NOT_CONFIGURED (its vendor has no API key).
   */
  resolve: (name: string | undefined, tier: Tier) => ResolvedModel;
  /** Public names on offer. */
  names: () => string[];
  /** Calls under way and calls that wait for a slot, in this process. */
  counts: () => { inFlight: number; waiting: number };
}

/** The language models that the settings describe. */
export function createModels(options: ModelsOptions): Models {
  const { settings } = options;
  const catalog = new ModelCatalog(settings);
  const queue = new CallQueue(settings.maxConcurrency);
  const shared = {
    queue,
    maxOutputTokens: settings.maxOutputTokens,
    timeoutMs: settings.timeoutMs,
    idleTimeoutMs: settings.idleTimeoutMs,
    clock: options.clock ?? systemClock,
    onCall: options.onCall,
    transport: {
      http: options.http,
      sleep: options.sleep ?? (async (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal })),
      random: options.random ?? Math.random,
    },
  };
  return {
    names: () => catalog.names(),
    counts: () => ({ inFlight: queue.inFlight, waiting: queue.waiting }),
    resolve: (name, tier) => {
      const entry = catalog.find(name, tier);
      const { apiKey, apiKeySetting, baseUrl, protocol } = entry.vendor;
      if (!apiKey) {
        throw new AppError(
          'AI_NOT_CONFIGURED',
          `No API key is configured for the model "${entry.name}": the setting ${apiKeySetting} is missing.`,
        );
      }
      const model = new HttpModel({
        ...shared,
        name: entry.vendorName,
        protocol: PROTOCOLS_BY_NAME[protocol],
        baseUrl,
        apiKey,
        priority: priorityOf(tier),
      });
      return { name: entry.name, upstream: entry.upstream, model };
    },
  };
}

/** The "priority queue" that comes with the upper tiers. */
function priorityOf(tier: Tier): Priority {
  return tier === 'pro' || tier === 'enterprise' ? 'high' : 'normal';
}
