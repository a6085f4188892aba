import { ModelCall } from './model-call.ts';
import type { Model, ModelAnswer, ModelRequest, TextFragment } from './types.ts';
import type { Vendor } from './vendor.ts';

/** The models of a vendor, called over HTTP. */
export class HttpModel implements Model {
  readonly #vendor: Vendor;

  constructor(vendor: Vendor) {
    this.#vendor = vendor;
  }

  async generate(request: ModelRequest): Promise<ModelAnswer> {
    const call = new ModelCall(this.#vendor, request, false);
    try {
      await call.open();
      return call.finish();
    } catch (error) {
      throw call.failed(error);
    } finally {
      call.close();
    }
  }

  async *stream(request: ModelRequest): AsyncGenerator<TextFragment, ModelAnswer, undefined> {
    const call = new ModelCall(this.#vendor, request, true);
    try {
      await call.open();
      for (;;) {
        const fragments = call.takeFragments();
        if (!fragments) return call.finish();
        if (fragments.length === 0) await call.arrival();
        for (const text of fragments) yield { type: 'text', text };
      }
    } catch (error) {
      throw call.failed(error);
    } finally {
      call.close();
    }
  }
}
