import { afterAll, afterEach } from 'vitest';
import { createTrustedClient } from '../platform/net/index.ts';
import { startScriptedVendor, type ScriptedVendor, type VendorScript } from './scripted-vendor.ts';
import { createModels } from '../modules/models/create-models.ts';
import { readModelSettings, type ModelSettings } from '../modules/models/models.settings.ts';
import type { Model, ModelAnswer, ModelRequest, ModelUsage } from '../modules/models/types.ts';
import type { CallFacts } from '../modules/models/vendor.ts';

/** The key that the model is called with; must show up nowhere but in a header. */
export const KEY = 'sk-ant-api03-verysecretkey000';
const http = createTrustedClient();
const vendors: ScriptedVendor[] = [];
afterEach(async () => {
  await Promise.all(vendors.splice(0).map((vendor) => vendor.close()));
});
afterAll(() => http.close());

type Protocol = 'anthropic' | 'openai';
export const PROTOCOLS: Protocol[] = ['anthropic', 'openai'];

/** A model served by a scripted vendor, with everything observable. */
export async function setUp(protocol: Protocol, script: VendorScript, changes: Partial<ModelSettings> = {}) {
  const vendor = await startScriptedVendor({ script });
  vendors.push(vendor);
  return { vendor, ...connect(protocol, vendor.baseUrl, changes) };
}

/** A model at any address, most of all one where nobody listens. */
export function connect(protocol: Protocol, baseUrl: string, changes: Partial<ModelSettings> = {}) {
  const env = { AI_DEFAULT_PROTOCOL: protocol, AI_DEFAULT_BASE_URL: baseUrl, AI_DEFAULT_API_KEY: KEY };
  const facts: CallFacts[] = [];
  const sleeps: number[] = [];
  const models = createModels({
    settings: { ...readModelSettings(env, []), ...changes },
    http,
    onCall: (call) => facts.push(call),
    sleep: (ms) => {
      sleeps.push(ms);
      return Promise.resolve();
    },
    random: () => 0.5,
  });
  return { models, model: models.resolve(undefined, 'basic').model, facts, sleeps };
}

/** A request, and the figures that are reported for it. */
export function ask(changes: Partial<ModelRequest> = {}) {
  const usages: ModelUsage[] = [];
  const request: ModelRequest = {
    model: 'up',
    system: 'S',
    messages: [{ role: 'user', text: 'Hi' }],
    tools: [],
    toolChoice: 'auto',
    signal: new AbortController().signal,
    onUsage: (usage) => usages.push(usage),
    ...changes,
  };
  return { request, usages };
}

/** Reads a stream to its end. */
export async function drain(
  model: Model,
  request: ModelRequest,
): Promise<{ fragments: string[]; answer: ModelAnswer }> {
  const fragments: string[] = [];
  const stream = model.stream(request);
  for (;;) {
    const step = await stream.next();
    if (step.done) return { fragments, answer: step.value };
    fragments.push(step.value.text);
  }
}

/** Resolves at the next turn of the event loop at which the condition holds. */
export async function until(isMet: () => boolean): Promise<void> {
  while (!isMet()) await new Promise((resolve) => setImmediate(resolve));
}
