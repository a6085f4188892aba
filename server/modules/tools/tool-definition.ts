import type { Execution } from '../../../contract/routes/tools.ts';

/** A tool as it can be called: registered, or given with a chat for that chat alone. */
export interface ToolDefinition {
  developerId: string;
  name: string;
  description: string;
  appId?: string | undefined;
  /** The installation that the tool was pinned by; it runs with the credentials of that. */
  installationId?: string;
  /** JSON Schema of the input. */
  inputSchema: Record<string, unknown>;
  execution?: Execution | undefined;
  enabled: boolean;
}

/** What an app adds to the tools it owns. Nothing of it is ever told. */
export interface ToolBinding {
  /** Relative urls are joined to it. */
  baseUrl?: string;
  /** Sent with every call of that origin; the tool's own headers win. `{{credentials.name}}` is filled. */
  headers?: Record<string, string>;
  /** What `{{credentials.name}}` stands for in headers, params and body. */
  credentials?: Readonly<Record<string, string>>;
  /** Those of headers and credentials that mean nothing but themselves: results go without them. */
  secrets?: readonly string[];
}

/** How a call ended. Failing is an ordinary outcome: whoever asked decides what it means. */
export type ToolOutcome =
  | { status: 'success'; result: unknown; elapsedMs: number }
  | { status: 'error'; reason: ToolFailureReason; error: string; elapsedMs: number };

/** `failed` alone means that the call was attempted. */
export type ToolFailureReason = 'disabled' | 'invalid_input' | 'needs_agent' | 'failed';
