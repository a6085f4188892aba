import type { Execution } from '../../../contract/routes/tools.ts';

/** A tool as it can be called: registered, or given with a chat for that chat alone. */
export interface ToolDefinition {
  developerId: string;
  name: string;
  description: string;
  appId?: string | undefined;
  /** JSON Schema of the input. */
  inputSchema: Record<string, unknown>;
  execution?: Execution | undefined;
  enabled: boolean;
}

/** What an app adds to the tools it owns. */
export interface ToolBinding {
  /** Relative urls are joined to it. */
  baseUrl?: string;
  /** Sent with every call; the tool's own headers win. */
  headers?: Record<string, string>;
}

/** How a call ended. Failing is an ordinary outcome: whoever asked decides what it means. */
export type ToolOutcome =
  | { status: 'success'; result: unknown; elapsedMs: number }
  | { status: 'error'; reason: ToolFailureReason; error: string; elapsedMs: number };

/** `failed` alone means that the call was attempted. */
export type ToolFailureReason = 'disabled' | 'invalid_input' | 'needs_agent' | 'failed';
