import { declareSettings, integer, list, oneOf, readSettings, secret, text, url } from '../../platform/config/index.ts';
import {
  PROTOCOLS,
  readVendors,
  splitModelName,
  VENDOR_BASE_URLS,
  vendorKey,
  type VendorSettings,
} from './vendor-settings.ts';

const DEFAULT_MODEL = 'neutral-sonnet-4-20250514';

export const modelSettings = declareSettings('AI models', {
  AI_DEFAULT_PROTOCOL: oneOf(PROTOCOLS, {
    default: 'anthropic',
    doc: 'Protocol of the vendor that serves models without a vendor prefix.',
  }),
  AI_DEFAULT_BASE_URL: url(['http', 'https'], {
    default: undefined,
    defaultText: "the vendor's own",
    doc: 'Address of that vendor with the version, e.g. https://host/v1; /messages or /chat/completions is added.',
  }),
  AI_DEFAULT_API_KEY: secret({
    defaultText: 'ANTHROPIC_API_KEY, if the protocol is anthropic',
    doc: 'API key of that vendor. Without it, calls of its models answer 400 AI_NOT_CONFIGURED.',
  }),
  ANTHROPIC_API_KEY: secret({ doc: 'Used when AI_DEFAULT_API_KEY is absent and AI_DEFAULT_PROTOCOL is anthropic.' }),
  AI_DEFAULT_MODEL: text({ default: DEFAULT_MODEL, doc: 'The model of requests that name none.' }),
  AI_MODELS: list({
    default: ['neutral-opus-4-20250514', 'other:large-235b-a22b'],
    doc: 'Models on offer besides the default model: names, or name=upstream where the vendor knows the model by another name. Models <vendor>:<model> of a vendor that is configured by AI_<VENDOR>_BASE_URL, AI_<VENDOR>_API_KEY and AI_<VENDOR>_PROTOCOL (openai unless set) need not be listed.',
  }),
  AI_BASIC_MODELS: list({
    default: [],
    defaultText: 'the default model',
    doc: 'Models that the tier free may use; all others answer 403 MODEL_NOT_ALLOWED to it.',
  }),
  AI_MAX_CONCURRENCY: integer({
    default: 256,
    min: 1,
    max: 100_000,
    doc: 'Model calls under way at a time in one process. Beyond it calls wait, those of the tiers pro and enterprise first.',
  }),
  AI_MAX_OUTPUT_TOKENS: integer({
    default: 8192,
    min: 1,
    max: 1_000_000,
    doc: 'Tokens that a model may write in one answer.',
  }),
  AI_TIMEOUT_SECONDS: integer({
    default: 120,
    min: 1,
    max: 3600,
    doc: 'How long a vendor may take to begin its answer. An answer that is not streamed begins when it is complete.',
  }),
  AI_IDLE_TIMEOUT_SECONDS: integer({
    default: 60,
    min: 1,
    max: 3600,
    doc: 'How long a vendor may be silent in the middle of an answer.',
  }),
});

export interface ModelSettings {
  /** Serves the models without a vendor prefix. */
  defaultVendor: VendorSettings;
  /** The other vendors, by `vendorKey` of their prefix. */
  vendors: Map<string, VendorSettings>;
  defaultModel: string;
  /** Vendors' names of the models on offer, by their public names; the default model included. */
  models: Map<string, string>;
  /** Public names of what tier free may use. */
  basicModels: Set<string>;
  maxConcurrency: number;
  maxOutputTokens: number;
  timeoutMs: number;
  idleTimeoutMs: number;
}

/** Reads the settings, the families `AI_<VENDOR>_*` among them, and pushes what is wrong with them to `mistakes`. */
export function readModelSettings(env: NodeJS.ProcessEnv, mistakes: string[]): ModelSettings {
  const values = readSettings(modelSettings, env, mistakes);
  const defaultModel = values.AI_DEFAULT_MODEL;
  const models = readModelList(values.AI_MODELS, defaultModel, mistakes);
  const vendors = readVendors(env, mistakes);
  for (const name of values.AI_BASIC_MODELS) {
    const vendor = splitModelName(name)?.vendor;
    if (!models.has(name) && !(vendor !== undefined && vendors.has(vendorKey(vendor)))) {
      mistakes.push(`AI_BASIC_MODELS names "${name}", which is not in AI_MODELS`);
    }
  }
  return {
    defaultVendor: {
      protocol: values.AI_DEFAULT_PROTOCOL,
      baseUrl: values.AI_DEFAULT_BASE_URL ?? VENDOR_BASE_URLS[values.AI_DEFAULT_PROTOCOL],
      apiKey:
        values.AI_DEFAULT_API_KEY ??
        // A key for one vendor must not be sent to another.
        (values.AI_DEFAULT_PROTOCOL === 'anthropic' ? values.ANTHROPIC_API_KEY : undefined),
      apiKeySetting: 'AI_DEFAULT_API_KEY',
    },
    vendors,
    defaultModel,
    models,
    basicModels: new Set(values.AI_BASIC_MODELS.length > 0 ? values.AI_BASIC_MODELS : [defaultModel]),
    maxConcurrency: values.AI_MAX_CONCURRENCY,
    maxOutputTokens: values.AI_MAX_OUTPUT_TOKENS,
    timeoutMs: values.AI_TIMEOUT_SECONDS * 1000,
    idleTimeoutMs: values.AI_IDLE_TIMEOUT_SECONDS * 1000,
  };
}

/** Vendors' names by public names. The default model comes first; it need not be listed, but may be, to be mapped. */
function readModelList(entries: string[], defaultModel: string, mistakes: string[]): Map<string, string> {
  const listed = new Map<string, string>();
  for (const entry of entries) readModelEntry(entry, listed, mistakes);
  return new Map([[defaultModel, listed.get(defaultModel) ?? upstreamOf(defaultModel)], ...listed]);
}

/** `name` or `name=upstream`. */
function readModelEntry(entry: string, models: Map<string, string>, mistakes: string[]): void {
  const equals = entry.indexOf('=');
  const name = (equals === -1 ? entry : entry.slice(0, equals)).trim();
  const upstream = equals === -1 ? upstreamOf(name) : entry.slice(equals + 1).trim();
  const isEmpty = name === '' || upstream === '';
  if (isEmpty) mistakes.push(`AI_MODELS has an entry "${entry}" that is not name or name=upstream`);
  else if (models.has(name)) mistakes.push(`AI_MODELS names "${name}" twice`);
  else models.set(name, upstream);
}

/** The vendor's name of a model that is listed without one: what follows the vendor prefix. */
function upstreamOf(name: string): string {
  return splitModelName(name)?.model ?? name;
}
