/** Asks once for what several want at the same time: who asks while an answer is on its way gets that one. */
export function shareLoads<Value>(load: (key: string) => Promise<Value>): (key: string) => Promise<Value> {
  const loads = new Map<string, Promise<Value>>();
  return (key) => {
    const underWay = loads.get(key);
    if (underWay) return underWay;
    const begun = load(key).finally(() => loads.delete(key));
    loads.set(key, begun);
    return begun;
  };
}
