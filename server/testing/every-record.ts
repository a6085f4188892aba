import { randomUUID } from 'node:crypto';
import { createId } from '../platform/ids/index.ts';
import { pick, pickText, type Answer } from './start-test-app.ts';

/** One record of every kind that a path can name. */
export interface RecordIds {
  apiKey: string;
  developer: string;
  tool: string;
  toolPack: string;
  graph: string;
  graphNode: string;
  knowledgeBase: string;
  document: string;
  app: string;
  /** An app that is not on the marketplace. */
  listing: string;
  installation: string;
  webhook: string;
  delivery: string;
  workflow: string;
  /** One that failed. */
  run: string;
}

interface Owner {
  /** Calls the API as the one who is to own the records; throws where that is refused. */
  call: (method: string, path: string, body?: unknown) => Promise<unknown>;
  developerId: string;
  /** Part of every name. */
  name: string;
  /** Where webhooks and tools go. */
  url: string;
}

/** Ids as records have them, of none that exists. */
export function absentIds(): RecordIds {
  const name = `absent-${randomUUID()}`;
  return {
    apiKey: createId('key'),
    developer: createId('dev'),
    tool: name,
    toolPack: name,
    graph: name,
    graphNode: name,
    knowledgeBase: createId('kb'),
    document: createId('doc'),
    app: name,
    listing: createId('app'),
    installation: createId('inst'),
    webhook: createId('hook'),
    delivery: createId('dlv'),
    workflow: createId('wf'),
    run: createId('run'),
  };
}

/** Throws unless the call succeeded. */
export function demandSuccess({ status, body }: Answer): unknown {
  if (status < 300) return body;
  throw new Error(`a call of the set-up gave ${status} ${JSON.stringify(body)}`);
}

/** Asks until the answer holds what is looked for. */
async function until<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await ask();
    if (found !== undefined) return found;
  }
}

async function makeTools({ call, name, url }: Owner) {
  await call('POST', '/v1/tools', { name, description: 'x', execution: { type: 'http', method: 'GET', url } });
  await call('POST', '/v1/tools/packs', { id: name, name, tools: [name], knowledge: `Knowledge of ${name}.` });
  return { tool: name, toolPack: name };
}

async function makeKnowledge({ call, name }: Owner) {
  const graphNode = `${name}-node`;
  const nodes = [graphNode, `${name}-other`].map((node) => ({ type: 'T', name: node, externalId: node }));
  const edges = [{ from: graphNode, to: `${name}-other`, relation: 'KNOWS' }];
  await call('POST', `/v1/graph/${name}/sync`, { nodes, edges });
  const knowledgeBase = pickText(await call('POST', '/v1/knowledge', { name }), '_id');
  const document = await call('POST', `/v1/knowledge/${knowledgeBase}/documents`, { content: 'A text.', title: name });
  return { graph: name, graphNode, knowledgeBase, document: pickText(document, 'id') };
}

async function makeApps({ call, name }: Owner) {
  const created = await call('POST', '/v1/apps', { app: { id: name, name }, toolPacks: [name] });
  const other = await call('POST', '/v1/apps', { app: { id: `${name}-installed`, name } });
  await call('POST', `/v1/apps/${name}-installed/publish`);
  const installed = await call('POST', `/v1/marketplace/apps/${pickText(other, '_id')}/install`);
  return { app: name, listing: pickText(created, '_id'), installation: pickText(installed, '_id') };
}

async function makeDelivery({ call, name, url }: Owner) {
  const webhook = pickText(await call('POST', '/v1/events/webhooks', { event: 'tool.executed', url }), '_id');
  await call('POST', `/v1/tools/${name}/test`, {});
  const delivery = await until(async () => {
    const [first] = asList(pick(await call('GET', `/v1/events/webhooks/${webhook}/deliveries`), 'deliveries'));
    return first === undefined ? undefined : pickText(first, '_id');
  });
  return { webhook, delivery };
}

async function makeRun({ call, name }: Owner) {
  const nodes = [{ id: 'fails', type: 'tool-call', config: { tool: 'none' } }];
  const workflow = pickText(await call('POST', '/v1/workflows', { name, nodes, edges: [] }), '_id');
  const run = pickText(await call('POST', `/v1/workflows/${workflow}/run`, {}), 'runId');
  await until(async () => {
    const status = pick(await call('GET', `/v1/workflows/${workflow}/runs/${run}`), 'status');
    return status === 'failed' ? status : undefined;
  });
  return { workflow, run };
}

/** Safe because a list can be looked into like any other value. */
function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Makes one record of every kind. */
export async function makeEveryRecord(owner: Owner): Promise<RecordIds> {
  const apiKey = pickText(await owner.call('POST', '/v1/auth/api-keys', { name: owner.name }), 'id');
  return {
    apiKey,
    developer: owner.developerId,
    ...(await makeTools(owner)),
    ...(await makeKnowledge(owner)),
    ...(await makeApps(owner)),
    ...(await makeDelivery(owner)),
    ...(await makeRun(owner)),
  };
}
