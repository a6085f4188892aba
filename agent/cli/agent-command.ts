import { hostname } from 'node:os';
import { parseArgs } from 'node:util';
import { createClient } from '../../client/index.ts';
import { DesktopAgent } from '../desktop/desktop-agent.ts';
import type { LoadedHandler } from '../desktop/handler.ts';
import { loadHandlers } from '../desktop/load-handlers.ts';
import { askOnTerminal } from './ask-on-terminal.ts';

export const AGENT_HELP = `Usage: tessera agent --handlers <folder> [options]

Runs the handler tools of a folder on this machine, for a Tessera service. Connects out; opens no port.

  --handlers <folder>  modules that export name, description, input_schema and run(input, {signal})
  --url <address>      the service (default http://127.0.0.1:8080)
  --key <key>          an API key that may write (default: the environment's TESSERA_API_KEY, which others cannot see)
  --allow <names>      run only these handlers, separated by commas
  --ask                ask on the terminal before each call
  --register           register the handlers as tools of the service first
  --name <name>        shown in GET /v1/agents (default: the name of this machine)
  --help               this text

Ctrl-C finishes the calls under way and leaves; a second one leaves at once.
`;

const OPTIONS = {
  url: { type: 'string', default: 'http://127.0.0.1:8080' },
  key: { type: 'string' },
  handlers: { type: 'string' },
  allow: { type: 'string' },
  ask: { type: 'boolean', default: false },
  register: { type: 'boolean', default: false },
  name: { type: 'string', default: hostname() },
  help: { type: 'boolean', default: false },
} as const;

/** A mistake in how the command was called. */
export class UsageError extends Error {}

function print(text: string): void {
  process.stdout.write(`${new Date().toISOString()} ${text}\n`);
}

function readOptions(args: readonly string[], env: NodeJS.ProcessEnv) {
  const { values } = parseArgs({ args: [...args], options: OPTIONS, strict: true });
  const { url, handlers, key = env['TESSERA_API_KEY'] } = values;
  if (values.help) return undefined;
  if (handlers === undefined) throw new UsageError('--handlers is required.');
  if (key === undefined || key === '') throw new UsageError('A key is required: --key, or TESSERA_API_KEY.');
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) throw new UsageError('--url must begin with http or https.');
  return { ...values, handlers, key };
}

function allowed(handlers: readonly LoadedHandler[], list: string | undefined): LoadedHandler[] {
  if (list === undefined) return [...handlers];
  const names = new Set(list.split(',').map((name) => name.trim()));
  const known = new Set(handlers.map(({ name }) => name));
  const odd = [...names].filter((name) => !known.has(name));
  if (odd.length > 0) throw new UsageError(`--allow names what the folder does not have: ${odd.join(', ')}.`);
  return handlers.filter(({ name }) => names.has(name));
}

async function register(handlers: readonly LoadedHandler[], service: { url: string; key: string }): Promise<void> {
  const client = createClient({ baseUrl: service.url, apiKey: service.key });
  for (const { name, description, input_schema } of handlers) {
    const execution = { type: 'handler' as const };
    await client.registerTool({ body: { name, description: description || name, input_schema, execution } });
    print(`registered ${name}`);
  }
}

function leaveOnSignals(agent: DesktopAgent): void {
  let isLeaving = false;
  const onSignal = (): void => {
    if (isLeaving) return agent.leaveNow();
    isLeaving = true;
    print('leaving when the calls under way have ended');
    return agent.leave();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
}

/** `tessera agent`. Resolves when it has left. */
export async function agentCommand(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const options = readOptions(args, env);
  if (!options) {
    process.stdout.write(AGENT_HELP);
    return;
  }
  const { url, key, name } = options;
  const loaded = await loadHandlers(options.handlers);
  for (const problem of loaded.problems) print(problem);
  const handlers = allowed(loaded.handlers, options.allow);
  if (handlers.length === 0) throw new UsageError(`There is no handler in ${options.handlers}.`);
  print(`handlers: ${handlers.map((handler) => handler.name).join(', ')}`);
  if (options.register) await register(handlers, { url, key });
  const ask = options.ask ? askOnTerminal() : undefined;
  const agent = new DesktopAgent({ url, key, agentName: name, handlers, ask, print });
  leaveOnSignals(agent);
  await agent.run();
}
