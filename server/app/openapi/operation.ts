import type { TSchema } from 'typebox';
import { exampleEvents, exampleOf } from '../../../contract/shared/example-of.ts';
import { asJsonSchema } from '../../../contract/shared/json-schema.ts';
import type { RouteContract } from '../../../contract/shared/route.ts';
import { errorResponses } from './error-responses.ts';
import { ANSWER_HEADERS, headersOf } from './headers.ts';

/** `{schema, example}`, without the example when the schema states none. */
export function jsonContent(schema: TSchema): object {
  const example = exampleOf(asJsonSchema(schema));
  return { 'application/json': { schema, ...(example === undefined ? {} : { example }) } };
}

function parametersIn(where: 'path' | 'query', schema: TSchema | undefined): object[] {
  const { properties = {}, required = [] } = schema ? asJsonSchema(schema) : {};
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: where,
    required: required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema: rest,
  }));
}

function requestBody(schema: TSchema): object {
  const { required = [] } = asJsonSchema(schema);
  return { required: required.length > 0, content: jsonContent(schema) };
}

/** The wire form of an event stream: `data: <JSON>` and a blank line for each event. */
function eventStreamContent(event: TSchema): object {
  const example = exampleEvents(asJsonSchema(event)).map((one) => `data: ${JSON.stringify(one)}\n\n`);
  const schema = {
    type: 'string',
    description: 'Events as server-sent events; `x-event-schema` is the shape of each.',
  };
  return { 'text/event-stream': { schema, example: example.join(''), 'x-event-schema': event } };
}

function successResponse({ status, streams, response }: RouteContract): Record<string, object> {
  const answer = {
    description: streams ? 'The events, as they are made.' : status === 201 ? 'Created.' : 'Done.',
    headers: headersOf(ANSWER_HEADERS),
    content: streams ? eventStreamContent(response) : jsonContent(response),
  };
  return { [status]: answer };
}

/** The operation object of a route. */
export function operationOf(contract: RouteContract): object {
  const { id, tag, summary, description, permission, params, query, body } = contract;
  const parameters = [...parametersIn('path', params), ...parametersIn('query', query)];
  const permissionSentence = `The API key needs \`${permission}\` permission.`;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: description === undefined ? permissionSentence : `${description}\n\n${permissionSentence}`,
    'x-permission': permission,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: requestBody(body) } : {}),
    responses: { ...successResponse(contract), ...errorResponses(contract) },
  };
}
