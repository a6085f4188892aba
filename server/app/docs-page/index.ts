// The API reference page at /docs, by the Scalar viewer that npm installs; it asks no other address.
// Used by app, which adds it to the server.
// Must not know any route: the browser reads /openapi.json.
export { addDocsPage } from './docs-page.ts';
