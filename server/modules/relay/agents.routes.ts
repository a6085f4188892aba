import { AGENT_LIMITS } from '../../../contract/agent/limits.ts';
import { AGENT_PATH } from '../../../contract/agent/protocol.ts';
import { listAgents } from '../../../contract/routes/agents.ts';
import { implement, type Route, type SocketRoute } from '../../platform/http/index.ts';
import type { Relay } from './relay.ts';

export function agentRoutes(relay: Relay): Route[] {
  return [implement(listAgents, async ({ caller: { developerId } }) => ({ agents: await relay.list(developerId) }))];
}

/** Where agents connect. */
export function agentSocketRoute(relay: Relay): SocketRoute {
  return {
    path: AGENT_PATH,
    permission: 'write',
    maxMessageBytes: AGENT_LIMITS.messageBytes,
    accept: (accepted) => relay.accept(accepted),
  };
}
