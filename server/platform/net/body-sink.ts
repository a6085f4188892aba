import { Readable } from 'node:stream';
import { ByteCollector } from './byte-collector.ts';
import { readBody } from './read-body.ts';

/** What takes the body of an answer as it comes. */
export interface BodySink {
  /** May throw, which ends the exchange. */
  add: (chunk: Buffer) => void;
  /** That was all of it. */
  end: () => void;
  /** It broke off, or there is no more time for it. */
  broken: (error: Error) => void;
}

/** To be told once: of the body as the caller gets it, or of why there is none. The rest of it is then not read. */
export interface BodyEnding {
  done: (body: Buffer) => void;
  fail: (error: unknown) => void;
}

/** All of a body that is not encoded; fails with OutboundError `too_large` above `maxBytes`. */
export function wholeBody(maxBytes: number, { done, fail }: BodyEnding): BodySink {
  const collector = new ByteCollector(maxBytes);
  return {
    add: (chunk) => collector.add(chunk),
    end: () => done(collector.bytes()),
    broken: fail,
  };
}

/** How a body begins, at most `maxBytes` of it and at most what comes before it breaks off. */
export function bodyStart(maxBytes: number, { done }: Pick<BodyEnding, 'done'>): BodySink {
  const collector = new ByteCollector(maxBytes);
  let left = maxBytes;
  const finish = (): void => done(collector.bytes());
  return {
    add: (chunk) => {
      collector.add(chunk.subarray(0, left));
      if (chunk.length > left) finish();
      left -= Math.min(left, chunk.length);
    },
    end: finish,
    broken: finish,
  };
}

interface EncodedBody {
  contentEncoding: string;
  maxBytes: number;
  /** Holds the sender back, and lets it go on. */
  flow: { pause: () => void; resume: () => void };
}

/** All of an encoded body, decoded no faster than it can be; fails as `readBody` does. */
export function encodedBody({ contentEncoding, maxBytes, flow }: EncodedBody, { done, fail }: BodyEnding): BodySink {
  const encoded = new Readable({ read: () => flow.resume() });
  const decode = async (): Promise<void> => {
    try {
      done(await readBody(encoded, contentEncoding, maxBytes));
    } catch (error) {
      fail(error);
    }
  };
  void decode();
  return {
    add: (chunk) => {
      if (!encoded.push(chunk)) flow.pause();
    },
    end: () => void encoded.push(null),
    broken: (error) => void encoded.destroy(error),
  };
}
