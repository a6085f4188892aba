#!/usr/bin/env node
import { AGENT_HELP, agentCommand, UsageError } from './cli/agent-command.ts';

/** Mistakes of whoever types, those that parseArgs finds included. */
function isUsage(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return error instanceof UsageError || code.startsWith('ERR_PARSE_ARGS');
}

async function main([command, ...args]: readonly string[]): Promise<number> {
  if (command !== 'agent') {
    const isHelp = command === undefined || command === '--help' || command === 'help';
    process[isHelp ? 'stdout' : 'stderr'].write(isHelp ? AGENT_HELP : `There is no command "${command}".\n`);
    return isHelp ? 0 : 2;
  }
  try {
    await agentCommand(args, process.env);
    return 0;
  } catch (error) {
    process.stderr.write(`tessera agent: ${error instanceof Error ? error.message : String(error)}\n`);
    return isUsage(error) ? 2 : 1;
  }
}

process.exit(await main(process.argv.slice(2)));
