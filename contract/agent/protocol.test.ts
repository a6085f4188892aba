import { describe, expect, test } from 'vitest';
import { exampleOf } from '../shared/example-of.ts';
import { asJsonSchema } from '../shared/json-schema.ts';
import { messageReader } from './message-reader.ts';
import { AgentMessage, ServiceMessage } from './protocol.ts';

describe.each([
  ['an agent', AgentMessage, ['result', 'hello', 'bye']],
  ['the service', ServiceMessage, ['call', 'welcome', 'cancel', 'bye']],
])('what %s sends', (_who, schema, types) => {
  const read = messageReader(schema);
  const examples = (asJsonSchema(schema).anyOf ?? []).map((kind) => exampleOf(kind));

  test('every kind of message has an example that is one', () => {
    expect(examples).toMatchObject(types.map((type) => ({ type })));
    for (const example of examples) expect(read(JSON.stringify(example))).toEqual(example);
  });

  test.each(['', 'null', '[]', '{}', '{"type":"other"}', '{"type":1}', '"bye"', '{"type":"bye"}'])(
    '%s is none',
    (text) => {
      expect(read(text)).toBeUndefined();
    },
  );
});
