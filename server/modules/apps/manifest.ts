import type { AppDefinition } from '../../../contract/routes/apps.ts';
import type { Execution } from '../../../contract/routes/tools.ts';

/** A tool as a version pins it. */
export interface ManifestTool {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  execution?: Execution;
}

/** What a version of an app holds: everything that an installation needs, and no secret of the publisher. */
export interface Manifest {
  app: AppDefinition['app'];
  baseUrl?: string;
  dashboard?: AppDefinition['dashboard'];
  tools: ManifestTool[];
  packs: { packId: string; knowledge: string }[];
  /** Names of the credentials that an installer has to give. */
  credentials: string[];
  /** Those of them that go to the service of the app with every call. */
  headerCredentials: string[];
}
