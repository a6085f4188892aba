const PREFIX = 'data: ';

/** Events of a stream: each a `data:` line with JSON and a blank line. Stopping to read closes the connection. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<unknown, void> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) if (block.startsWith(PREFIX)) yield JSON.parse(block.slice(PREFIX.length));
    }
  } finally {
    await reader.cancel();
  }
}
