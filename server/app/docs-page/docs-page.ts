import { gunzip } from 'node:zlib';
import { promisify } from 'node:util';
import type { HttpServer } from '../../platform/http/index.ts';
import { CONTENT_SECURITY_POLICY, PAGE, START_SCRIPT } from './page.ts';
import { scalarScript } from './scalar-script.ts';

const JAVASCRIPT = 'text/javascript; charset=utf-8';
/** The script changes only with a release of the service. */
const CACHE_CONTROL = 'public, max-age=3600';

const decompress = promisify(gunzip);

function takesGzip(acceptEncoding: string | string[] | undefined): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/i.test(String(acceptEncoding ?? ''));
}

/** Serves the API reference page at /docs. Its script is loaded when somebody first opens the page. */
export function addDocsPage(app: HttpServer): void {
  for (const path of ['/docs', '/docs/']) {
    app.get(path, (_request, reply) =>
      reply
        .header('content-security-policy', CONTENT_SECURITY_POLICY)
        .header('referrer-policy', 'no-referrer')
        .header('x-content-type-options', 'nosniff')
        .type('text/html; charset=utf-8')
        .send(PAGE),
    );
  }
  app.get('/docs/start.js', (_request, reply) => reply.type(JAVASCRIPT).send(START_SCRIPT));
  app.get('/docs/scalar.js', async (request, reply) => {
    const gzipped = await scalarScript();
    reply.type(JAVASCRIPT).header('cache-control', CACHE_CONTROL).header('vary', 'accept-encoding');
    if (!takesGzip(request.headers['accept-encoding'])) return decompress(gzipped);
    return reply.header('content-encoding', 'gzip').send(gzipped);
  });
}
