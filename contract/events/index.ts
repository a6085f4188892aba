import { Type, type TSchema } from 'typebox';
import { JsonObject, JsonValue, OneOf } from '../shared/schemas.ts';

/** An event that the service sends to subscribed addresses. */
export interface EventContract {
  /** Such as `tool.executed`. */
  type: string;
  /** When it is sent. */
  summary: string;
  data: TSchema;
}

const AppData = Type.Object({
  appId: Type.String({ examples: ['crm'] }),
  appName: Type.String({ examples: ['Customers'] }),
});
const RunId = Type.String({ examples: ['run_01kagc2y5jv6f3w9c0m4x7t8zb'] });
const WorkflowId = Type.String({ examples: ['wf_01kagc2y5jv6f3w9c0m4x7t8zb'] });
const WorkflowName = Type.String({ examples: ['Nightly report'] });
const ToolName = Type.String({ examples: ['get_order'] });
const ToolInput = Type.Unsafe<unknown>({
  ...JsonValue,
  description: 'The input of the call; above 256 kB a text that says so and shows how it begins.',
  examples: [{ orderId: '4711' }],
});

const ALERT_TYPES = [
  'tool_failure_rate',
  'workflow_failing',
  'workflow_loop',
  'daily_limit',
  'subscription_disabled',
] as const;
export type AlertType = (typeof ALERT_TYPES)[number];

const ALERT_SEVERITIES = ['info', 'warning', 'error'] as const;
export type AlertSeverity = (typeof ALERT_SEVERITIES)[number];

/** Every event type there is, with the shape of its data. */
export const EVENTS = [
  { type: 'app.installed', summary: 'A user installed a published app.', data: AppData },
  { type: 'app.configured', summary: 'A user finished configuring an app.', data: AppData },
  {
    type: 'tool.executed',
    summary: 'A tool call returned successfully.',
    data: Type.Object({
      toolName: ToolName,
      input: ToolInput,
      result: Type.Unsafe<unknown>({
        ...JsonValue,
        description: 'What the tool returned; above 256 kB a text that says so and shows how it begins.',
        examples: [{ orderId: '4711', state: 'shipped' }],
      }),
      elapsed_ms: Type.Number({ minimum: 0, examples: [12] }),
    }),
  },
  {
    type: 'tool.failed',
    summary: 'A tool call failed.',
    data: Type.Object({
      toolName: ToolName,
      input: ToolInput,
      error: Type.String({ examples: ['HTTP 503 from the address of the tool.'] }),
    }),
  },
  {
    type: 'knowledge.updated',
    summary: 'A document of a knowledge base was added or modified.',
    data: Type.Object({
      knowledgeId: Type.String({ examples: ['kb_01kagc2y5jv6f3w9c0m4x7t8zb'] }),
      action: OneOf(['upload', 'update']),
      documentTitle: Type.String({ examples: ['Returns policy'] }),
    }),
  },
  {
    type: 'graph.synced',
    summary: 'A bulk graph sync finished.',
    data: Type.Object({
      graphId: Type.String({ examples: ['crm'] }),
      nodesWritten: Type.Integer({ minimum: 0, examples: [120] }),
      edgesWritten: Type.Integer({ minimum: 0, examples: [340] }),
    }),
  },
  {
    type: 'workflow.completed',
    summary: 'A workflow run succeeded.',
    data: Type.Object({
      workflowId: WorkflowId,
      workflowName: WorkflowName,
      runId: RunId,
      status: OneOf(['completed']),
      stepResults: Type.Array(JsonObject),
    }),
  },
  {
    type: 'workflow.failed',
    summary: 'A workflow run failed.',
    data: Type.Object({
      workflowId: WorkflowId,
      workflowName: WorkflowName,
      runId: RunId,
      error: Type.String({ examples: ['Step "notify": the mail server refused the recipient.'] }),
    }),
  },
  {
    type: 'alert.triggered',
    summary: 'An alert condition was detected. Sent once for each incident.',
    data: Type.Object({
      alertType: Type.Unsafe<AlertType>({
        ...OneOf(ALERT_TYPES, {
          description:
            '`tool_failure_rate`: more than half of the last 20 calls of a tool failed. `workflow_failing`: a workflow failed 3 times in a row. `workflow_loop`: workflows have set each other off 8 times in a row. `daily_limit`: a key has used 80% or 100% of its daily requests. `subscription_disabled`: a subscription was disabled because its address did not take its events.',
        }),
        examples: ['daily_limit'],
      }),
      source: Type.String({
        description: 'The name of the tool, or the id of the workflow, the key or the subscription.',
        examples: ['key_01kagc2y5jv6f3w9c0m4x7t8zb'],
      }),
      message: Type.String({
        examples: [
          '80% of the daily requests are used: the key key_01kagc2y5jv6f3w9c0m4x7t8zb has made 800 of 1,000 on 2026-01-31 (UTC).',
        ],
      }),
      severity: Type.Unsafe<AlertSeverity>({ ...OneOf(ALERT_SEVERITIES), examples: ['warning'] }),
    }),
  },
  {
    type: 'ai.conversation',
    summary: 'An AI conversation finished.',
    data: Type.Object({
      model: Type.String({ examples: ['neutral-sonnet-4-20250514'] }),
      inputTokens: Type.Integer({ minimum: 0, examples: [120] }),
      outputTokens: Type.Integer({ minimum: 0, examples: [18] }),
    }),
  },
] as const satisfies readonly EventContract[];

export type EventType = (typeof EVENTS)[number]['type'];
