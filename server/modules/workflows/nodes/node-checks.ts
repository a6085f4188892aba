import type { NodeType } from '../../../../contract/routes/workflows.ts';
import { AppError } from '../../../platform/errors/index.ts';
import type { Caller } from '../../../platform/http/index.ts';
import { OutboundError } from '../../../platform/net/index.ts';
import { outputFormatOf } from './ai-generate.ts';
import { demandOperator } from './compare.ts';
import { demandOne } from './condition.ts';
import type { NodeParts } from './create-node-types.ts';
import { addressesOf, subjectOf } from './email-send.ts';
import { demandExpression } from './expression.ts';
import { headersOf, urlOf } from './http-request.ts';
import { StepError } from './node-type.ts';
import { optionalObject, optionalText, requiredText } from './read-config.ts';

type Config = Record<string, unknown>;

/** What a node would fail on, as far as its configuration shows. */
interface ConfigProblem {
  /** A field of the configuration, or empty for all of it. */
  field: string;
  message: string;
  /** Of the service rather than of the node: it may be set right without changing the workflow. */
  isWarning?: boolean;
}

interface CheckContext {
  caller: Caller;
  /** Steps that come before this one. */
  before: ReadonlySet<string>;
  /** Whether a field is known only when the step runs: it refers to what came before. */
  isOpen: (field: string) => boolean;
}

type CheckNode = (config: Config, context: CheckContext) => Promise<ConfigProblem[]> | ConfigProblem[];

/** The check of one field, left out while its value is open; it throws what would be told of a step that failed. */
function failure(field: string, { isOpen }: CheckContext, check: () => unknown): ConfigProblem[] {
  if (isOpen(field)) return [];
  try {
    check();
    return [];
  } catch (error) {
    if (error instanceof StepError || error instanceof OutboundError) return [{ field, message: error.message }];
    if (error instanceof AppError) {
      return [{ field, message: error.message, isWarning: error.code === 'AI_NOT_CONFIGURED' }];
    }
    throw error;
  }
}

/** Names that a node does not read are mistyped, more often than not. */
function unread(config: Config, fields: readonly string[]): ConfigProblem[] {
  return Object.keys(config)
    .filter((field) => !fields.includes(field))
    .map((field) => ({
      field,
      message: `config.${field} is not read; there are ${fields.join(', ')}.`,
      isWarning: true,
    }));
}

function checkAiGenerate({ ai }: NodeParts): CheckNode {
  return (config, context) => [
    ...failure('prompt', context, () => requiredText(config, 'prompt')),
    ...failure('systemPrompt', context, () => optionalText(config, 'systemPrompt')),
    ...failure('outputFormat', context, () => outputFormatOf(config)),
    ...failure('model', context, () => ai.models.resolve(optionalText(config, 'model'), context.caller.tier)),
    ...unread(config, ['prompt', 'model', 'systemPrompt', 'outputFormat']),
  ];
}

function checkToolCall({ tools }: NodeParts): CheckNode {
  return async (config, context) => {
    const problems = [
      ...failure('tool', context, () => requiredText(config, 'tool')),
      ...failure('input', context, () => optionalObject(config, 'input')),
      ...unread(config, ['tool', 'input']),
    ];
    const { tool } = config;
    if (typeof tool !== 'string' || tool === '' || context.isOpen('tool')) return problems;
    const definition = await tools.findTool(context.caller.developerId, tool);
    if (!definition) problems.push({ field: 'tool', message: `There is no tool named "${tool}".` });
    else if (!definition.enabled) {
      problems.push({ field: 'tool', message: `The tool "${tool}" is disabled.`, isWarning: true });
    }
    return problems;
  };
}

function checkHttpRequest({ outbound }: NodeParts): CheckNode {
  return (config, context) => [
    ...failure('url', context, () => outbound.check(requiredText(config, 'url'))),
    ...failure('method', context, () => optionalText(config, 'method')),
    ...failure('headers', context, () => headersOf(config)),
    ...failure('params', context, () => urlOf({ url: 'http://x/', params: config['params'] })),
    ...unread(config, ['method', 'url', 'headers', 'params', 'body']),
  ];
}

const checkCondition: CheckNode = (config, context) => {
  const problems = unread(config, ['left', 'operator', 'right', 'expression']);
  if (config['expression'] === undefined) {
    return [...problems, ...failure('operator', context, () => demandOperator(requiredText(config, 'operator')))];
  }
  return [
    ...problems,
    ...failure('operator', context, () => demandOne(config)),
    ...failure('expression', context, () => demandExpression(requiredText(config, 'expression'), context.before)),
  ];
};

function checkEmailSend({ mailer }: NodeParts): CheckNode {
  return (config, context) => {
    const problems = [
      ...failure('to', context, () => {
        if (addressesOf(config, 'to').length === 0) throw new StepError('config.to names nobody.');
      }),
      ...['cc', 'bcc', 'replyTo'].flatMap((field) => failure(field, context, () => addressesOf(config, field))),
      ...failure('subject', context, () => subjectOf(config)),
      ...failure('html', context, () => optionalText(config, 'html')),
      ...failure('body', context, () =>
        config['html'] === undefined ? requiredText(config, 'body') : optionalText(config, 'body'),
      ),
      ...unread(config, ['to', 'subject', 'body', 'html', 'cc', 'bcc', 'replyTo']),
    ];
    if (!mailer) problems.push({ field: '', message: 'Sending mail needs the setting SMTP_URL.', isWarning: true });
    return problems;
  };
}

export type NodeChecks = Record<NodeType, CheckNode>;

/** What can be told of each type of node before it runs. */
export function createNodeChecks(parts: NodeParts): NodeChecks {
  return {
    'ai-generate': checkAiGenerate(parts),
    'tool-call': checkToolCall(parts),
    'http-request': checkHttpRequest(parts),
    condition: checkCondition,
    'email-send': checkEmailSend(parts),
  };
}
