// A model vendor on loopback, as fast as node:http goes: OpenAI's wire form, one fixed answer. With `stream: true` it
// sends FRAGMENTS fragments, FRAGMENT_MS apart (0: at once), each holding the time at which it was sent.
import { createServer, type ServerResponse } from 'node:http';

const PORT = Number(process.env['PORT']);
const FRAGMENTS = Number(process.env['FRAGMENTS'] ?? 10);
const FRAGMENT_MS = Number(process.env['FRAGMENT_MS'] ?? 0);

const usage = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 };
const whole = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'bench',
  choices: [
    { index: 0, message: { role: 'assistant', content: 'The order left this morning.' }, finish_reason: 'stop' },
  ],
  usage,
});

function frame(choices: unknown[], rest: object = {}): string {
  const chunk = { id: 'chatcmpl-1', object: 'chat.completion.chunk', model: 'bench', choices, ...rest };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

function sendStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  let sent = 0;
  const sendNext = (): void => {
    if (response.destroyed) return;
    if (sent === FRAGMENTS) {
      response.end(frame([{ index: 0, delta: {}, finish_reason: 'stop' }]) + frame([], { usage }) + 'data: [DONE]\n\n');
      return;
    }
    const sentAt = performance.timeOrigin + performance.now();
    response.write(frame([{ index: 0, delta: { content: `${sent} ${sentAt};` }, finish_reason: null }]));
    sent++;
    if (FRAGMENT_MS === 0) sendNext();
    else setTimeout(sendNext, FRAGMENT_MS);
  };
  sendNext();
}

createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => (body += chunk));
  request.on('end', () => {
    if (body.includes('"stream":true')) {
      sendStream(response);
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(whole) });
    response.end(whole);
  });
}).listen(PORT, '127.0.0.1');
