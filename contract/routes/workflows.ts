import { Type, type Static } from 'typebox';
import { EVENTS } from '../events/index.ts';
import { defineRoute } from '../shared/route.ts';
import { JsonObject, JsonValue, Name, OneOf, Success, Text, Timestamp } from '../shared/schemas.ts';

export const NODE_TYPES = ['ai-generate', 'tool-call', 'http-request', 'condition', 'email-send'] as const;
export type NodeType = (typeof NODE_TYPES)[number];
export const RUN_STATUSES = ['pending', 'running', 'completed', 'failed'] as const;
const EVENT_TYPES = EVENTS.map(({ type }) => type);

const WorkflowId = Type.String({ examples: ['wf_01kagc2y5jv6f3w9c0m4x7t8zb'] });
const RunId = Type.String({ examples: ['run_01kagc2y5jv6f3w9c0m4x7t8zb'] });

const Trigger = Type.Object(
  {
    type: OneOf(['manual', 'cron', 'event']),
    schedule: Type.Optional(
      Type.String({ maxLength: 256, description: 'With type cron: five or six fields.', examples: ['0 8 * * 1-5'] }),
    ),
    timezone: Type.Optional(
      Type.String({ maxLength: 64, description: 'With type cron: an IANA time zone; UTC when absent.' }),
    ),
    catchUp: Type.Optional(
      OneOf(['latest', 'skip', 'all'], {
        description: 'With type cron: what becomes of ticks that were missed. One run for the latest when absent.',
      }),
    ),
    event: Type.Optional(OneOf(EVENT_TYPES, { description: 'With type event: the event that starts a run.' })),
    filter: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        ...JsonObject,
        description: 'With type event: values that data must have, by dotted path; a list stands for any of its items.',
      }),
    ),
  },
  { examples: [{ type: 'cron', schedule: '0 8 * * 1-5', timezone: 'Asia/Shanghai' }] },
);
export type Trigger = Static<typeof Trigger>;

const NodeId = Name({ description: 'Unique in the workflow.', examples: ['ask'] });
const Node = Type.Object({
  id: NodeId,
  type: OneOf(NODE_TYPES),
  config: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      ...JsonObject,
      description:
        'Depends on type. Texts may hold {{trigger.data}} and {{<nodeId>.result}}, each with a path into the value.',
      examples: [{ prompt: 'Summarise: {{trigger.data.text}}' }],
    }),
  ),
  retry: Type.Optional(
    Type.Object(
      {
        attempts: Type.Integer({ minimum: 1, maximum: 20, description: 'All attempts, the first one included.' }),
        backoffMs: Type.Optional(
          Type.Integer({ minimum: 0, maximum: 3_600_000, description: 'Pause before the second; doubles each time.' }),
        ),
      },
      { examples: [{ attempts: 3, backoffMs: 1000 }] },
    ),
  ),
  timeoutMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_600_000, examples: [30_000] })),
  onError: Type.Optional(OneOf(['fail', 'continue'], { description: 'What a failed step means; fail when absent.' })),
});
export type WorkflowNode = Static<typeof Node>;

const Edge = Type.Object(
  {
    from: NodeId,
    to: NodeId,
    condition: Type.Optional(OneOf(['true', 'false'], { description: 'Of edges that leave a condition.' })),
  },
  { examples: [{ from: 'ask', to: 'send' }] },
);
export type WorkflowEdge = Static<typeof Edge>;

const WorkflowName = Name({ description: 'For people.', examples: ['Nightly report'] });
const Description = Text({ description: 'What it is for.', examples: ['Sums up the orders of the day.'] });
const Nodes = Type.Array(Node, { examples: [[{ id: 'ask', type: 'ai-generate', config: { prompt: 'Say hello.' } }]] });
const Edges = Type.Array(Edge, { maxItems: 5000, examples: [[]] });

export const Workflow = Type.Object({
  _id: WorkflowId,
  id: WorkflowId,
  userId: Type.String({ examples: ['dev_01kagc2y5jv6f3w9c0m4x7t8zb'] }),
  name: Type.String({ examples: ['Nightly report'] }),
  description: Type.String({ examples: ['Sums up the orders of the day.'] }),
  trigger: Trigger,
  nodes: Nodes,
  edges: Edges,
  enabled: Type.Boolean(),
  source: Type.String({ examples: ['api'] }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Workflow = Static<typeof Workflow>;

const Definition = {
  name: WorkflowName,
  description: Type.Optional(Description),
  trigger: Type.Optional(Trigger),
  nodes: Type.Optional(Nodes),
  edges: Type.Optional(Edges),
};

const IdParam = Type.Object({ id: Type.String({ minLength: 1, description: 'The id of the workflow.' }) });
const RunParams = Type.Object({
  id: Type.String({ minLength: 1, description: 'The id of the workflow.' }),
  runId: Type.String({ minLength: 1, description: 'The id of the run.' }),
});

export const createWorkflow = defineRoute({
  id: 'createWorkflow',
  method: 'POST',
  path: '/v1/workflows',
  tag: 'Workflows',
  summary: 'Create a workflow',
  permission: 'write',
  status: 201,
  body: Type.Object(Definition),
  response: Workflow,
  errors: ['INVALID_REQUEST', 'INVALID_JSON'],
});

const Problem = Type.Object(
  { path: Type.String({ description: 'Where it is.' }), message: Type.String() },
  { examples: [{ path: 'edges[0].to', message: 'There is no node "send".' }] },
);

export const validateWorkflow = defineRoute({
  id: 'validateWorkflow',
  method: 'POST',
  path: '/v1/workflows/validate',
  tag: 'Workflows',
  summary: 'Check a workflow without saving it',
  description:
    'Tells what creating it would refuse, and what its nodes would fail on as far as that shows before they run. ' +
    'Warnings do not make it invalid: names that no node reads, and what the operator has not set.',
  permission: 'read',
  status: 200,
  body: Type.Object(Definition),
  response: Type.Object({
    valid: Type.Boolean(),
    problems: Type.Array(Problem),
    warnings: Type.Array(Problem, {
      examples: [[{ path: 'nodes[0].config', message: 'Sending mail needs the setting SMTP_URL.' }]],
    }),
  }),
  errors: ['INVALID_REQUEST', 'INVALID_JSON'],
});

export const listWorkflows = defineRoute({
  id: 'listWorkflows',
  method: 'GET',
  path: '/v1/workflows',
  tag: 'Workflows',
  summary: 'List the workflows',
  description: 'Newest first. All of them, unless `limit` is given; `nextCursor` is then present while there are more.',
  permission: 'read',
  status: 200,
  query: Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    cursor: Type.Optional(Type.String({ description: 'The nextCursor of the page before.' })),
  }),
  response: Type.Object({
    workflows: Type.Array(Type.Omit(Workflow, ['id', 'userId', 'nodes', 'edges', 'createdAt'])),
    total: Type.Integer({ description: 'How many there are, on all pages.', examples: [1] }),
    nextCursor: Type.Optional(Type.String()),
  }),
  errors: ['INVALID_REQUEST'],
});

export const getWorkflow = defineRoute({
  id: 'getWorkflow',
  method: 'GET',
  path: '/v1/workflows/{id}',
  tag: 'Workflows',
  summary: 'Read a workflow',
  permission: 'read',
  status: 200,
  params: IdParam,
  response: Workflow,
  errors: ['NOT_FOUND'],
});

export const updateWorkflow = defineRoute({
  id: 'updateWorkflow',
  method: 'PUT',
  path: '/v1/workflows/{id}',
  tag: 'Workflows',
  summary: 'Change a workflow',
  description: 'Fields that are absent stay as they are. Runs under way keep the definition they began with.',
  permission: 'write',
  status: 200,
  params: IdParam,
  body: Type.Object({ ...Definition, name: Type.Optional(WorkflowName), enabled: Type.Optional(Type.Boolean()) }),
  response: Workflow,
  errors: ['INVALID_REQUEST', 'INVALID_JSON', 'NOT_FOUND'],
});

export const deleteWorkflow = defineRoute({
  id: 'deleteWorkflow',
  method: 'DELETE',
  path: '/v1/workflows/{id}',
  tag: 'Workflows',
  summary: 'Delete a workflow with its runs',
  permission: 'write',
  status: 200,
  params: IdParam,
  response: Success,
  errors: ['NOT_FOUND'],
});

const StepResult = Type.Object({
  nodeId: Type.String({ examples: ['ask'] }),
  status: OneOf(['success', 'failed', 'skipped']),
  result: Type.Optional(Type.Unsafe<unknown>({ ...JsonValue, examples: ['Hello!'] })),
  error: Type.Optional(Type.String({ examples: ['HTTP 503 from api.example.com.'] })),
  startedAt: Timestamp,
  completedAt: Timestamp,
});
export type StepResult = Static<typeof StepResult>;

const Run = Type.Object({
  _id: RunId,
  workflowId: WorkflowId,
  status: OneOf(RUN_STATUSES),
  triggeredBy: OneOf(['api', 'cron', 'event']),
  triggerData: Type.Unsafe<Record<string, unknown>>({ ...JsonObject, examples: [{ orderId: '4711' }] }),
  stepResults: Type.Array(StepResult),
  error: Type.Optional(Type.String({ description: 'Why it failed.' })),
  createdAt: Timestamp,
  startedAt: Type.Optional(Timestamp),
  completedAt: Type.Optional(Timestamp),
});
export type Run = Static<typeof Run>;

const Queued = Type.Object({
  runId: RunId,
  status: OneOf(['pending']),
  message: Type.String({ examples: ['The run is queued.'] }),
});

export const runWorkflow = defineRoute({
  id: 'runWorkflow',
  method: 'POST',
  path: '/v1/workflows/{id}/run',
  tag: 'Workflows',
  summary: 'Queue a run',
  permission: 'write',
  status: 200,
  params: IdParam,
  body: Type.Object({ data: Type.Optional(JsonObject) }, { examples: [{ data: { orderId: '4711' } }] }),
  response: Queued,
  errors: ['INVALID_REQUEST', 'INVALID_JSON', 'NOT_FOUND'],
});

export const listRuns = defineRoute({
  id: 'listRuns',
  method: 'GET',
  path: '/v1/workflows/{id}/runs',
  tag: 'Workflows',
  summary: 'List the runs of a workflow',
  description: 'Newest first; `nextCursor` is present while there are more.',
  permission: 'read',
  status: 200,
  params: IdParam,
  query: Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, description: '20 when absent.' })),
    cursor: Type.Optional(Type.String({ description: 'The nextCursor of the page before.' })),
    status: Type.Optional(OneOf(RUN_STATUSES)),
  }),
  response: Type.Object({ runs: Type.Array(Run), nextCursor: Type.Optional(Type.String()) }),
  errors: ['INVALID_REQUEST', 'NOT_FOUND'],
});

export const getRun = defineRoute({
  id: 'getRun',
  method: 'GET',
  path: '/v1/workflows/{id}/runs/{runId}',
  tag: 'Workflows',
  summary: 'Read a run with the results of its steps',
  permission: 'read',
  status: 200,
  params: RunParams,
  response: Run,
  errors: ['NOT_FOUND'],
});

export const cancelRun = defineRoute({
  id: 'cancelRun',
  method: 'POST',
  path: '/v1/workflows/{id}/runs/{runId}/cancel',
  tag: 'Workflows',
  summary: 'Cancel a run',
  description: 'It ends as failed; a step under way is given up. CONFLICT when it has ended.',
  permission: 'write',
  status: 200,
  params: RunParams,
  response: Run,
  errors: ['NOT_FOUND', 'CONFLICT'],
});

export const retryRun = defineRoute({
  id: 'retryRun',
  method: 'POST',
  path: '/v1/workflows/{id}/runs/{runId}/retry',
  tag: 'Workflows',
  summary: 'Run again from where a run failed',
  description: 'Queues a new run of the same definition and data that keeps the steps which succeeded.',
  permission: 'write',
  status: 200,
  params: RunParams,
  response: Queued,
  errors: ['NOT_FOUND', 'CONFLICT'],
});
