// Apps: definitions with their secrets, publication, the marketplace, installations and dashboards.
// Used by ai (which tools and knowledge an appContext means) and by app.
// Must not know what a model is, nor how a tool is called (tools).
export { createApps, type Apps } from './apps.ts';
export { appRoutes } from './apps.routes.ts';
export { marketplaceRoutes } from './marketplace.routes.ts';
export { appTables } from './sealed-tables.store.ts';
