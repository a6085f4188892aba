import { RE2JS } from 're2js';
import { errorMessage } from '../../../platform/errors/index.ts';
import { SchemaMistake, type LinearPattern } from './keyword.ts';

/** All patterns of one schema together: characters, and steps of their compiled programs. */
const MAX_LENGTH = 8192;
const MAX_PROGRAM = 10_000;

/**
 * Compiles the patterns of one schema with RE2, whose time is linear in the text whatever the pattern: look-around and
 * back-references are refused. Throws SchemaMistake.
 */
export function createPatternCompiler(): (text: string, where: string) => LinearPattern {
  let length = 0;
  let program = 0;
  return (text, where) => {
    length += text.length;
    if (length > MAX_LENGTH) {
      throw new SchemaMistake(where, `is too much: the patterns of a schema may have ${MAX_LENGTH} characters`);
    }
    const compiled = compile(text, where);
    const size = compiled.programSize();
    program += size;
    if (program > MAX_PROGRAM) throw new SchemaMistake(where, 'is too much: the patterns of the schema are too large');
    return { test: (input) => compiled.test(input), stepsPerCharacter: size };
  };
}

function compile(text: string, where: string): RE2JS {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(text));
  } catch (error) {
    const reason = errorMessage(error).replace(/^error parsing regexp: /, '');
    throw new SchemaMistake(where, `is not a pattern that can be checked in linear time: ${reason}`);
  }
}
