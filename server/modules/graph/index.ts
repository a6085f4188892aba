// Knowledge graphs: nodes, typed edges, bulk sync, search and traversal.
// Used by app.
// Must not know any other module.
export { createGraphs, type Graphs } from './graphs.ts';
export { graphRoutes } from './graph.routes.ts';
export { graphSettings } from './graph.settings.ts';
