// Workflows: definitions of nodes and edges, and durable runs of them, started by hand, by a schedule or by an event.
// Used by app, which hands over the node types and says in whose name a run works.
// Must not know what a node type calls.
export { createWorkflows, type Workflows } from './workflows.ts';
export { workflowSettings } from './workflows.settings.ts';
export { workflowRoutes } from './workflows.routes.ts';
export { createNodeChecks } from './nodes/node-checks.ts';
export { createNodeTypes } from './nodes/create-node-types.ts';
