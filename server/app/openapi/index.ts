// The OpenAPI 3.1 description of the API, made from the route contracts.
// Used by app, which serves it, and by the docs page, which reads it in the browser.
// Must not know any handler, nor any single route.
export { addOpenApiRoute } from './openapi-route.ts';
export { describeTags } from './tags.ts';
