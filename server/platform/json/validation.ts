import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { AppError } from '../errors/index.ts';
import { queryValues } from './query-values.ts';

interface Complaint {
  keyword: string;
  instancePath: string;
  params: object;
  message: string;
}

/** `/tools/0/name` as a reader writes it: `tools[0].name`. */
function fieldName(instancePath: string): string {
  return instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path === '' ? part : `${path}.${part}`), '');
}

function stringsIn(params: object, name: string): string {
  const found: unknown = Object.entries(params).find(([key]) => key === name)?.[1];
  return Array.isArray(found) ? found.map(String).join(', ') : String(found);
}

/** What is wrong, in a sentence that begins with the field. */
function explain(complaint: Complaint): string {
  const field = fieldName(complaint.instancePath);
  switch (complaint.keyword) {
    case 'required': {
      const missing = stringsIn(complaint.params, 'requiredProperties').split(', ')[0] ?? '';
      return `${field === '' ? missing : `${field}.${missing}`} is required.`;
    }
    case 'enum':
      return `${field} must be one of ${stringsIn(complaint.params, 'allowedValues')}.`;
    case 'minLength':
      return `${field} must not be empty.`;
    case 'pattern':
      return `${field} must not contain control characters.`;
    case 'type':
      return `${field || 'The body'} must be ${withArticle(stringsIn(complaint.params, 'type'))}.`;
    default:
      return `${field || 'The body'} ${complaint.message}.`;
  }
}

function withArticle(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function refusal(part: string | undefined, complaint: Complaint | undefined): AppError {
  const sentence = complaint ? explain(complaint) : 'The request does not match its schema.';
  // A malformed name in the path names nothing that could exist.
  return part === 'params' ? new AppError('NOT_FOUND', sentence) : new AppError('INVALID_REQUEST', sentence);
}

/**
 * The validator of one part of a request, in the form that Fastify asks for. Query values are text and are
 * converted to the schema's numbers and booleans; an absent body counts as an empty object.
 */
export function compileValidator(schema: TSchema, part: string | undefined) {
  const validator = Compile(schema);
  return (data: unknown): { value: unknown } | { error: Error } => {
    const value = part === 'querystring' ? queryValues(schema, data) : part === 'body' ? (data ?? {}) : data;
    return validator.Check(value) ? { value } : { error: refusal(part, validator.Errors(value)[0]) };
  };
}
