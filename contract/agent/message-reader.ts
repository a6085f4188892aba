import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';

/** Gives the message that a text holds, or undefined when it holds none of the schema. */
export function messageReader<S extends TSchema>(schema: S): (text: string) => Static<S> | undefined {
  const validator = Compile(schema);
  return (text) => {
    const message = parse(text);
    return validator.Check(message) ? message : undefined;
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
