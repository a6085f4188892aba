// A process of its own: the package holds its 4 MB script as one string and keeps some 50 MB of memory for good
// once it is imported. Prints the script, gzipped.
import { gzipSync } from 'node:zlib';
import apiReference from '@scalar/fastify-api-reference';
import { fastify } from 'fastify';

const app = fastify();
await app.register(apiReference, { routePrefix: '/docs', configuration: { url: '/openapi.json' } });
const answer = await app.inject('/docs/js/scalar.js');
if (answer.statusCode !== 200) throw new Error(`the API reference package answered ${answer.statusCode}`);
process.stdout.write(gzipSync(answer.rawPayload));
