import { testDataFile } from '../../testing/test-data.ts';
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { createOutbound } from './create-outbound.ts';
import { closeAll, serveHttp } from './loopback.ts';
import type { Lookup } from './resolve-host.ts';

const file = testDataFile('ssrf/must-block.txt');
const lines = file === undefined ? [] : readFileSync(file, 'utf8').split('\n').filter(Boolean);

/** As hosts files, clouds and wildcard name services answer: every name leads to this machine. */
const lookup: Lookup = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]);

/** The same address with another port, where it is one that has a port at all. */
function withPort(line: string, port: number): string | undefined {
  const url = URL.canParse(line) ? new URL(line) : undefined;
  if (!url?.protocol.startsWith('http')) return undefined;
  url.protocol = 'http:';
  url.port = String(port);
  return url.href;
}

const HOSTS = ['0.0.0.0', '127.0.0.1', '::1'];

afterEach(closeAll);

describe.skipIf(file === undefined)('addresses that must never be dialled', () => {
  const call = { method: 'GET', headers: {}, timeoutMs: 5000, maxBytes: 1000, redirects: 'follow' } as const;

  it('are all refused, and no canary is reached', async () => {
    const canaries = await Promise.all(HOSTS.map((host) => serveHttp((_, response) => response.end('canary'), host)));
    const outbound = createOutbound({ policy: { allowPrivate: false, allow: [] }, lookup });
    expect(lines.length).toBeGreaterThan(50);
    for (const line of lines) {
      for (const url of [line, ...canaries.map(({ port }) => withPort(line, port))]) {
        if (url === undefined) continue;
        const failure = await outbound.request({ ...call, url }).catch((error: unknown) => error);
        expect({ url, failure }).toMatchObject({ url, failure: { kind: 'refused' } });
      }
    }
    expect(canaries.map((canary) => canary.connections())).toEqual(HOSTS.map(() => 0));
    await outbound.close();
  });

  it('reach the canary when private addresses are allowed, so that it can be reached at all', async () => {
    const canary = await serveHttp((_request, response) => response.end('canary'), '0.0.0.0');
    const outbound = createOutbound({ policy: { allowPrivate: true, allow: [] }, lookup });
    for (const url of lines.filter((line) => /^http:..(127|0x7f|2130706433|localhost|metadata)/.test(line))) {
      const answer = await outbound.request({ ...call, url: withPort(url, canary.port) ?? '' });
      expect(answer.body.toString()).toBe('canary');
    }
    expect(canary.connections()).toBeGreaterThan(0);
    await outbound.close();
  });
});
