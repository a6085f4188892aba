import { expect, test } from 'vitest';
import type { RequestContext } from '../../platform/http/index.ts';
import { createOutbound } from '../../platform/net/index.ts';
import { invokeTool, type InvokeDependencies } from './invoke-tool.ts';
import type { ToolDefinition } from './tool-definition.ts';

function refuseToBeAsked(): never {
  throw new Error('this was asked');
}

const DEPENDENCIES: InvokeDependencies = {
  outbound: createOutbound({ policy: { allowPrivate: true, allow: [] } }),
  relay: { call: refuseToBeAsked },
  bindingOf: refuseToBeAsked,
  recordEvents: refuseToBeAsked,
  log: { debug: refuseToBeAsked },
};

test('a tool of another developer is never called, whoever asks', async () => {
  const ctx: RequestContext = {
    requestId: 'req_1',
    caller: { keyId: 'key_1', developerId: 'dev_1', permissions: ['read'], tier: 'free', isOperator: true },
    signal: new AbortController().signal,
  };
  const definition: ToolDefinition = {
    developerId: 'dev_2',
    name: 'theirs',
    description: '',
    inputSchema: {},
    execution: { type: 'handler' },
    enabled: true,
  };
  await expect(invokeTool(DEPENDENCIES, ctx, { definition, input: {} })).rejects.toThrow('of another developer');
});
