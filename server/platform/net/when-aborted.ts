type Call = () => void;

interface Watch {
  calls: Set<Call>;
  end: () => void;
}

const watches = new WeakMap<AbortSignal, Watch>();

function watch(signal: AbortSignal): Watch {
  const calls = new Set<Call>();
  const callAll = (): void => {
    for (const call of calls) call();
  };
  signal.addEventListener('abort', callAll, { once: true });
  const end = (): void => {
    signal.removeEventListener('abort', callAll);
    watches.delete(signal);
  };
  const opened = { calls, end };
  watches.set(signal, opened);
  return opened;
}

/**
 * Calls when a signal is aborted; gives how to end the watch. Whoever watches a signal shares one listener: each that
 * is added is compared with all there are, which a signal that hundreds of requests share would pay for.
 */
export function whenAborted(signal: AbortSignal, call: Call): () => void {
  if (signal.aborted) call();
  const { calls, end } = watches.get(signal) ?? watch(signal);
  calls.add(call);
  return () => {
    calls.delete(call);
    if (calls.size === 0) end();
  };
}
