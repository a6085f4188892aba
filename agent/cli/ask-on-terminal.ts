import { createInterface, type Interface } from 'node:readline/promises';

/** Asks on the terminal, one question after the other; anything but y or yes is a no. */
export function askOnTerminal(): (question: string, signal: AbortSignal) => Promise<boolean> {
  let terminal: Interface | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const askOne = async (question: string, signal: AbortSignal): Promise<boolean> => {
    if (signal.aborted) return false;
    // No terminal of its own: Ctrl-C has to reach the process.
    terminal ??= createInterface({ input: process.stdin, output: process.stdout, terminal: false });
    const answer = await terminal.question(`${question} [y/N] `, { signal }).catch(() => '');
    return /^y(es)?$/i.test(answer.trim());
  };
  return (question, signal) => {
    const answer = last.then(() => askOne(question, signal));
    last = answer;
    return answer;
  };
}
