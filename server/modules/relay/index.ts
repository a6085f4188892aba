// Desktop agents: their connections, and calls of their handlers from any process of the service.
// Used by tools, for handler tools, and by app, which gives it the connections.
// Must not know what a tool is, nor who asks for a call.
export { createRelay, type Relay } from './relay.ts';
export { agentRoutes, agentSocketRoute } from './agents.routes.ts';
export { relaySettings } from './relay.settings.ts';
