import type { NodeType } from '../../../../contract/routes/workflows.ts';
import type { Mailer } from '../../../platform/mail/index.ts';
import type { Outbound } from '../../../platform/net/index.ts';
import type { Ai } from '../../ai/index.ts';
import type { Tools } from '../../tools/index.ts';
import { createAiGenerate } from './ai-generate.ts';
import { runCondition } from './condition.ts';
import { createEmailSend } from './email-send.ts';
import { createHttpRequest } from './http-request.ts';
import type { RunNode } from './node-type.ts';
import { createToolCall } from './tool-call.ts';

export interface NodeParts {
  ai: Ai;
  tools: Tools;
  outbound: Outbound;
  mailer: Mailer | undefined;
}

/** What each type of node does. */
export function createNodeTypes({ ai, tools, outbound, mailer }: NodeParts): Record<NodeType, RunNode> {
  return {
    'ai-generate': createAiGenerate(ai),
    'tool-call': createToolCall(tools),
    'http-request': createHttpRequest(outbound),
    condition: runCondition,
    'email-send': createEmailSend(mailer),
  };
}
