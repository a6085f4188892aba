import type { TrustedClient } from '../../../platform/net/index.ts';
import type { EmbeddingSettings } from '../knowledge.settings.ts';
import { createBuiltinEmbedder } from './builtin/builtin-embedder.ts';
import type { Embedder } from './embedder.ts';
import { EndpointEmbedder } from './endpoint/endpoint-embedder.ts';
import { createLocalEmbedder } from './local/local-embedder.ts';

interface EmbedderOptions {
  settings: EmbeddingSettings;
  /** For an endpoint; the caller closes it. */
  client: Pick<TrustedClient, 'request'>;
}

/**
 * The embedder that the settings describe; undefined when there is to be none. Nothing is loaded or asked before the
 * first text. Throws an Error of one line when a local model cannot be used.
 */
export async function createEmbedder({ settings, client }: EmbedderOptions): Promise<Embedder | undefined> {
  if (settings.kind === 'endpoint') return new EndpointEmbedder({ settings, client });
  if (settings.kind === 'local') return createLocalEmbedder(settings.path);
  return settings.kind === 'builtin' ? createBuiltinEmbedder() : undefined;
}
