// A server that speaks OpenAI's embeddings API and answers at once: vectors of 384 numbers that a text decides.
// Started by bench/knowledge.ts with PORT.
import { createServer } from 'node:http';

const DIMENSIONS = 384;

function vectorOf(text: string): number[] {
  let state = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193);
  return Array.from({ length: DIMENSIONS }, () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return Math.round(state / 2 ** 21) / 1024;
  });
}

/** Safe because only the service asks. */
function inputOf(body: string): string[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return (JSON.parse(body) as { input: string[] }).input;
}

createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const input = request.method === 'POST' ? inputOf(Buffer.concat(parts).toString()) : [];
    const data = input.map((text, index) => ({ index, embedding: vectorOf(text) }));
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data }));
  });
}).listen(Number(process.env['PORT']), '127.0.0.1');
