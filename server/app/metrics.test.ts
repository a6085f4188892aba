import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { connect } from 'node:net';
import { once } from 'node:events';
import { callApi } from '../testing/start-test-app.ts';
import { startChatApp, type ChatApp } from '../testing/start-chat-app.ts';

let it: ChatApp;
beforeAll(async () => {
  it = await startChatApp();
});
afterAll(() => it.stop());
beforeEach(() => it.begin());

async function metrics(): Promise<string> {
  return String((await callApi(it.app.url, { method: 'GET', path: '/metrics' })).body);
}

/** Names of time series, without their values. */
function seriesOf(page: string): string[] {
  return page
    .split('\n')
    .flatMap((line) => (line.startsWith('tessera_') ? [line.slice(0, line.lastIndexOf(' '))] : []));
}

test('shows requests, model calls, tokens, connections, queue and event loop', async () => {
  it.play([{ text: 'Hello.', usage: { inputTokens: 50, outputTokens: 7 } }]);
  await it.chat({ message: 'Hello' });
  await expect
    .poll(metrics)
    .toContain('tessera_http_request_duration_seconds_count{method="POST",route="/v1/ai/chat",status="200"} 1');
  const page = await metrics();
  expect(page).toContain('tessera_model_call_duration_seconds_count{vendor="default",outcome="finished"} 1');
  expect(page).toContain('tessera_model_tokens_total{vendor="default",direction="input"} 50');
  expect(page).toContain('tessera_model_tokens_total{vendor="default",direction="output"} 7');
  expect(page).toMatch(/^tessera_db_connections [1-9]\d*$/m);
  expect(page).toMatch(/^tessera_db_connections_idle \d+$/m);
  expect(page).toMatch(/^tessera_queue_depth 0$/m);
  expect(page).toMatch(/^nodejs_eventloop_lag_p99_seconds [\d.e-]+$/m);
});

test('invented paths, methods and models make no further series', async () => {
  const invent = async (round: number): Promise<void> => {
    for (let i = 0; i < 30; i++) {
      const name = `invented-${round}-${i}`;
      await it.app.call('GET', `/v1/${name}/${name}`);
      await it.app.call('GET', `/v1/tools/${name}`);
      await callApi(it.app.url, { method: 'GET', path: `/v1/${name}`, key: name });
      await it.chat({ message: 'x', model: `other:${name}` });
      await it.chat({ message: 'x', model: name });
      await it.chat({ message: 'x', model: `${name}:x` });
    }
    const { port, hostname } = new URL(it.app.url);
    const socket = connect(Number(port), hostname);
    socket.end(`INVENTED${round} / HTTP/1.1\r\nHost: x\r\n\r\n`);
    await once(socket.resume(), 'close');
  };
  it.play(() => ({ text: 'Hello.' }));
  await invent(0);
  const before = seriesOf(await metrics());
  await invent(1);
  const after = seriesOf(await metrics());
  expect(after.filter((series) => !before.includes(series))).toEqual([]);
  expect(after.join('\n')).not.toContain('invented');
  expect(after.join('\n')).toContain('vendor="other"');
});
