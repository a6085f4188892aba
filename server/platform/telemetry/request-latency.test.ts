import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { RequestLatency } from './request-latency.ts';

test('the page shows cumulative buckets, sum and count of each series', async () => {
  const registry = new Registry();
  const latency = new RequestLatency(registry, [0.01, 0.1]);
  const facts = { method: 'GET', route: '/v1/tools/{name}', status: 200 };
  for (const durationMs of [5, 10, 50, 500]) latency.record({ ...facts, durationMs });
  latency.record({ ...facts, status: 404, durationMs: 1 });
  const lines = (await registry.metrics()).split('\n').filter((line) => line.includes('status="200"'));
  const labels = 'method="GET",route="/v1/tools/{name}",status="200"';
  expect(lines.map((line) => line.replace('tessera_http_request_duration_seconds', ''))).toEqual([
    `_bucket{${labels},le="0.01"} 2`,
    `_bucket{${labels},le="0.1"} 3`,
    `_bucket{${labels},le="+Inf"} 4`,
    `_sum{${labels}} 0.565`,
    `_count{${labels}} 4`,
  ]);
});
