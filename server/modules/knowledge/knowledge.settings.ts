import { declareSettings, oneOf, readSettings, secret, text, url, type Secret } from '../../platform/config/index.ts';

const DEFAULT_MODEL = 'text-embedding-3-small';

export const knowledgeSettings = declareSettings('Knowledge', {
  EMBEDDINGS: oneOf(['auto', 'off', 'builtin', 'local', 'endpoint'], {
    default: 'auto',
    doc: 'What embeds texts for search by meaning. builtin: a small English model that comes with the service; local: a model folder; endpoint: a server; off: nothing, words alone find texts; auto: endpoint or local if EMBEDDINGS_BASE_URL or EMBEDDINGS_LOCAL_PATH is set, otherwise builtin.',
  }),
  EMBEDDINGS_BASE_URL: url(['http', 'https'], {
    default: undefined,
    doc: "Address of a server that speaks OpenAI's embeddings API, with the version, e.g. https://host/v1; /embeddings is added.",
  }),
  EMBEDDINGS_API_KEY: secret({
    doc: 'API key of that server, if it asks for one.',
    check: (value) => {
      if (!/^[\x21-\x7e]+$/.test(value)) throw new Error('must consist of printable ASCII characters without spaces');
    },
  }),
  EMBEDDINGS_MODEL: text({
    default: undefined,
    defaultText: DEFAULT_MODEL,
    doc: 'Model that the server is asked for. Another name means another model: everything is embedded anew.',
  }),
  EMBEDDINGS_LOCAL_PATH: text({
    default: undefined,
    doc: 'Folder with an ONNX model, laid out as on the Hugging Face hub: config.json, tokenizer.json, onnx/model.onnx. Needs the package @huggingface/transformers, which is installed separately.',
  }),
});

export interface EndpointSettings {
  /** With the version and without a trailing slash. */
  baseUrl: string;
  apiKey: Secret | undefined;
  model: string;
}

/** What embeds, and what it needs for that. */
export type EmbeddingSettings =
  | { kind: 'off' }
  | { kind: 'builtin' }
  | { kind: 'local'; path: string }
  | ({ kind: 'endpoint' } & EndpointSettings);

export interface KnowledgeSettings {
  embeddings: EmbeddingSettings;
}

/** Reads the settings and pushes what is wrong with them, or missing, to `mistakes`. */
export function readKnowledgeSettings(env: NodeJS.ProcessEnv, mistakes: string[]): KnowledgeSettings {
  const values = readSettings(knowledgeSettings, env, mistakes);
  const isGiven = (name: string): boolean => Boolean(env[name]?.trim());
  const kind = values.EMBEDDINGS === 'auto' ? chooseKind(isGiven, mistakes) : values.EMBEDDINGS;
  const { EMBEDDINGS_BASE_URL: baseUrl, EMBEDDINGS_LOCAL_PATH: path, EMBEDDINGS_API_KEY: apiKey } = values;
  if (kind === 'endpoint') {
    if (!isGiven('EMBEDDINGS_BASE_URL')) mistakes.push(missing('EMBEDDINGS_BASE_URL', 'EMBEDDINGS is endpoint'));
    const model = values.EMBEDDINGS_MODEL ?? DEFAULT_MODEL;
    return { embeddings: { kind, baseUrl: baseUrl ?? '', apiKey, model } };
  }
  if (kind === 'local') {
    if (!isGiven('EMBEDDINGS_LOCAL_PATH')) mistakes.push(missing('EMBEDDINGS_LOCAL_PATH', 'EMBEDDINGS is local'));
    return { embeddings: { kind, path: path ?? '' } };
  }
  return { embeddings: { kind } };
}

/** What the other settings speak of. */
function chooseKind(isGiven: (name: string) => boolean, mistakes: string[]): EmbeddingSettings['kind'] {
  const isLocal = isGiven('EMBEDDINGS_LOCAL_PATH');
  if (isGiven('EMBEDDINGS_BASE_URL')) {
    if (isLocal) mistakes.push(missing('EMBEDDINGS', 'both EMBEDDINGS_BASE_URL and EMBEDDINGS_LOCAL_PATH are'));
    return 'endpoint';
  }
  if (isLocal) return 'local';
  // Whoever sets these has a server in mind.
  for (const name of ['EMBEDDINGS_API_KEY', 'EMBEDDINGS_MODEL']) {
    if (isGiven(name)) mistakes.push(missing('EMBEDDINGS_BASE_URL', `${name} is`));
  }
  return 'builtin';
}

function missing(name: string, reason: string): string {
  return `${name} must be set, because ${reason}`;
}
