import { validate } from '@scalar/openapi-parser';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { Type } from 'typebox';
import { beforeAll, describe, expect, it } from 'vitest';
import type { EventContract } from '../../../contract/events/index.ts';
import { defineRoute, type RouteContract } from '../../../contract/shared/route.ts';
import { readContracts } from '../reference/read-contracts.ts';
import { openApiDocument } from './openapi-document.ts';

type Json = Record<string, unknown>;

const EVENTS: EventContract[] = [
  {
    type: 'tool.executed',
    summary: 'A tool call returned.',
    data: Type.Object({ toolName: Type.String({ examples: ['get_order'] }) }),
  },
];

let contracts: RouteContract[];
let document: Json;

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Every object inside a value, with its path. */
function* objectsIn(value: unknown, path = '#'): Generator<[string, Json]> {
  if (isJson(value)) yield [path, value];
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries(value)) yield* objectsIn(item, `${path}/${key}`);
}

/** What a `#/a/b` reference points to. */
function resolve(ref: string): unknown {
  let found: unknown = document;
  for (const part of ref.split('/').slice(1)) {
    found = isJson(found) ? found[part.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
  }
  return found;
}

const ajv = addFormats.default(new Ajv2020({ strict: false, allErrors: true }));

/** The path and the validator's words when a value does not fit a schema of the document; nothing when it does. */
function misfit(path: string, schema: unknown, value: unknown): string[] {
  if (!isJson(schema)) return [`${path} has no schema`];
  const fits = ajv.validate({ ...schema, components: document['components'] }, value);
  return fits ? [] : [`${path}: ${ajv.errorsText()}`];
}

function exampleValues(content: Json): unknown[] {
  const named = isJson(content['examples']) ? Object.values(content['examples']) : [];
  return [...('example' in content ? [content['example']] : []), ...named.map((one) => isJson(one) && one['value'])];
}

/** Every media type object of the document, with its path. */
function contents(): [string, Json][] {
  return [...objectsIn(document)].filter(([path]) => /\/content\/(?:application|text)\/[^/]+$/.test(path));
}

function at(...path: string[]): unknown {
  let found: unknown = document;
  for (const key of path) found = isJson(found) ? found[key] : undefined;
  return found;
}

beforeAll(async () => {
  contracts = await readContracts();
  document = JSON.parse(JSON.stringify(openApiDocument(contracts, { version: '1.2.3' }, EVENTS)));
});

describe('the OpenAPI document', () => {
  it('describes every route of the contract', () => {
    expect(contracts.length).toBeGreaterThan(10);
    for (const { method, path, id, permission } of contracts) {
      expect(at('paths', path, method.toLowerCase())).toMatchObject({ operationId: id, 'x-permission': permission });
    }
  });

  it('is valid OpenAPI 3.1', async () => {
    const { valid, errors, version } = await validate(structuredClone(document));
    expect(errors ?? []).toEqual([]);
    expect({ valid, version }).toEqual({ valid: true, version: '3.1' });
  });

  it('has only references that resolve', () => {
    const refs = [...objectsIn(document)].flatMap(([, { $ref }]) => (typeof $ref === 'string' ? [$ref] : []));
    expect(refs.length).toBeGreaterThan(0);
    expect(refs.filter((ref) => resolve(ref) === undefined)).toEqual([]);
  });

  it('names every operation once', () => {
    const ids = contracts.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  it('says a sentence on every tag', () => {
    const silent = asArray(at('tags')).filter((tag) => !isJson(tag) || tag['description'] === undefined);
    expect({ hint: 'add a sentence to tags.ts', silent }).toEqual({ hint: 'add a sentence to tags.ts', silent: [] });
  });

  it('declares every placeholder of a path, and no other path parameter', () => {
    for (const { method, path } of contracts) {
      const parameters = asArray(at('paths', path, method.toLowerCase(), 'parameters'));
      const declared = parameters.flatMap((one) => (isJson(one) && one['in'] === 'path' ? [String(one['name'])] : []));
      expect(declared.map((name) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
    }
  });
});

describe('examples', () => {
  it('are there for every body and every answer', () => {
    const without = contents().filter(([, content]) => exampleValues(content).length === 0);
    const hint = 'add `examples` to the required fields of these schemas in contract/routes';
    expect({ hint, without: without.map(([path]) => path) }).toEqual({ hint, without: [] });
  });

  it('fit their schemas', () => {
    const misfits = contents().flatMap(([path, content]) =>
      exampleValues(content).flatMap((value) => misfit(path, content['schema'], value)),
    );
    expect(misfits).toEqual([]);
  });

  it('that schemas state fit those schemas', () => {
    const misfits = [...objectsIn(document)].flatMap(([path, schema]) =>
      asArray(schema['examples']).flatMap((value) => misfit(path, schema, value)),
    );
    expect(misfits).toEqual([]);
  });

  it('of streams are events in wire form', () => {
    const streams = contents().filter(([path]) => path.includes('/text/event-stream'));
    expect(streams.length).toBe(contracts.filter((contract) => contract.streams).length);
    for (const [path, { example, 'x-event-schema': schema }] of streams) {
      const frames = String(example).split('\n\n').slice(0, -1);
      expect(frames.length).toBeGreaterThan(1);
      expect(frames.flatMap((frame) => misfit(path, schema, JSON.parse(frame.replace(/^data: /, ''))))).toEqual([]);
    }
  });
});

describe('an operation', () => {
  const contract = defineRoute({
    id: 'callThing',
    method: 'POST',
    path: '/v1/things/{id}',
    tag: 'Things',
    summary: 'Call a thing',
    permission: 'write',
    status: 201,
    params: Type.Object({ id: Type.String({ description: 'The id.' }) }),
    query: Type.Object({ limit: Type.Optional(Type.Integer({ description: 'How many.' })) }),
    body: Type.Object({ note: Type.Optional(Type.String({ examples: ['x'] })) }),
    response: Type.Object({ success: Type.Literal(true) }),
    errors: ['INVALID_REQUEST', 'INVALID_JSON', 'NOT_FOUND', 'TOOL_FAILED'],
    errorsWithoutCode: ['NOT_FOUND'],
  });
  const plain = JSON.parse(JSON.stringify(openApiDocument([contract], { version: '1.0.0' })));
  const operation = plain.paths['/v1/things/{id}'].post;

  it('lists where its input goes', () => {
    expect(operation.parameters).toEqual([
      { name: 'id', in: 'path', required: true, description: 'The id.', schema: { type: 'string' } },
      { name: 'limit', in: 'query', required: false, description: 'How many.', schema: { type: 'integer' } },
    ]);
    expect(operation.requestBody).toMatchObject({
      required: false,
      content: { 'application/json': { example: { note: 'x' } } },
    });
  });

  it('answers with its own refusals and the shared ones, by status', () => {
    const statuses = ['201', '400', '401', '403', '404', '413', '415', '429', '500', '503'];
    expect(Object.keys(operation.responses)).toEqual(statuses);
    expect(operation.responses['429']).toEqual({ $ref: '#/components/responses/RATE_LIMITED' });
    expect(Object.keys(operation.responses['500'].content['application/json'].examples)).toEqual([
      'TOOL_FAILED',
      'INTERNAL_ERROR',
    ]);
  });

  it('shows a refusal without a code where the contract has one', () => {
    const { schema, examples } = operation.responses['404'].content['application/json'];
    expect(schema).toEqual({ $ref: '#/components/schemas/ErrorWithoutCode' });
    expect(Object.keys(examples.NOT_FOUND.value.error)).toEqual(['message']);
  });

  it('promises Retry-After with 429 and the limits with everything', () => {
    expect(Object.keys(plain.components.responses.RATE_LIMITED.headers)).toEqual([
      'X-RateLimit-Limit',
      'X-RateLimit-Remaining',
      'X-RateLimit-Reset',
      'X-Request-Id',
      'Retry-After',
    ]);
    expect(Object.keys(operation.responses['201'].headers)).toContain('X-RateLimit-Reset');
  });

  it('without events has no webhooks', () => {
    expect(plain).not.toHaveProperty('webhooks');
  });
});

describe('an event', () => {
  it('is a webhook with the body that is delivered', () => {
    expect(at('webhooks', 'tool.executed', 'post', 'requestBody', 'content', 'application/json', 'example')).toEqual({
      event: 'tool.executed',
      timestamp: '2026-01-31T08:15:30.123Z',
      data: { toolName: 'get_order' },
    });
  });

  it('names every header, and which of them may be absent', () => {
    const headers = asArray(at('webhooks', 'tool.executed', 'post', 'parameters'));
    expect(headers.map((header) => isJson(header) && [header['name'], header['required']])).toEqual([
      ['X-Webhook-Event', true],
      ['X-Webhook-Timestamp', true],
      ['X-Webhook-Signature', false],
      ['X-Webhook-Signature-Previous', false],
      ['webhook-id', true],
      ['webhook-timestamp', true],
      ['webhook-signature', false],
    ]);
  });
});
