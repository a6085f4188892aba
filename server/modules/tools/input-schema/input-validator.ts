import { AppError } from '../../../platform/errors/index.ts';
import { compileInputSchema, type InputValidator } from './compile-input-schema.ts';
import { SchemaMistake } from './keyword.ts';

/**
 * The validator of an input_schema, compiled once. It says what is wrong with an input in sentences that name the
 * fields, undefined when nothing is. Throws AppError INVALID_REQUEST naming the part, below `field`, that cannot be used.
 */
export function inputValidator(schema: Record<string, unknown>, field = 'input_schema'): InputValidator {
  try {
    return compileInputSchema(schema);
  } catch (error) {
    if (!(error instanceof SchemaMistake)) throw error;
    throw new AppError('INVALID_REQUEST', `${field}${error.where} ${error.message}.`, { cause: error });
  }
}
