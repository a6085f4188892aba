import type { AnswerBody } from './answer-body.ts';
import { ByteCollector } from './byte-collector.ts';

/** Reads a whole body as UTF-8 text. Throws OutboundError `too_large` above `maxBytes`, or what the body throws. */
export async function readText(body: AnswerBody, maxBytes: number): Promise<string> {
  const collector = new ByteCollector(maxBytes);
  try {
    for (;;) {
      const bytes = body.take();
      if (bytes) collector.add(bytes);
      else if (body.isEnded) return collector.bytes().toString('utf8');
      else await body.arrival();
    }
  } finally {
    body.destroy();
  }
}
