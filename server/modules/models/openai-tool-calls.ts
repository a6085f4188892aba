import { createCallId } from './call-id.ts';
import type { ToolCall } from './types.ts';
import { asArray, asObject, asText, readToolInput, type JsonObject } from './vendor-json.ts';

interface CallUnderWay {
  index: unknown;
  id: string;
  name: string;
  /** Text that grows, or the object that some vendors send instead. */
  written: unknown;
  /** Fields of the vendor's own, such as signatures, which it wants back. */
  extras: JsonObject;
}

/**
 * Gathers the tool calls of an answer from their pieces. By the protocol each piece names its call by `index`; in
 * practice servers send whole calls at once, without index, all under index 0, or with empty ids.
 */
export class ToolCallGatherer {
  readonly #calls: CallUnderWay[] = [];

  /** Takes in `tool_calls` of a delta or message; gives the number of characters of input that it brought. */
  take(pieces: unknown): number {
    let length = 0;
    for (const piece of asArray(pieces)) length += this.#takePiece(asObject(piece));
    return length;
  }

  #takePiece({ index, id, type: _type, function: fn, ...extras }: JsonObject): number {
    const { name, arguments: written } = asObject(fn);
    const call = this.#callFor({ index, id: asText(id), name: asText(name) });
    Object.assign(call.extras, extras);
    if (typeof written !== 'string') {
      if (written === undefined || written === null) return 0;
      call.written = written;
      return JSON.stringify(written).length;
    }
    call.written = asText(call.written) + written;
    return written.length;
  }

  #callFor({ index, id, name }: { index: unknown; id: string; name: string }): CallUnderWay {
    const found =
      index === undefined || index === null
        ? (this.#calls.find((call) => id !== '' && call.id === id) ?? (name === '' ? this.#calls.at(-1) : undefined))
        : this.#calls.findLast((call) => call.index === index);
    const isAnother = found && id !== '' && name !== '' && found.id !== '' && found.id !== id;
    if (found && !isAnother) {
      found.id ||= id;
      found.name ||= name;
      return found;
    }
    const call: CallUnderWay = { index, id, name, written: '', extras: {} };
    this.#calls.push(call);
    return call;
  }

  /** The calls, each with an id: a call to which the vendor gave none is given one now, and keeps it. */
  calls(): ToolCall[] {
    for (const call of this.#calls) call.id ||= createCallId();
    return this.#calls.map(({ id, name, written }) => ({ id, name, ...readToolInput(written) }));
  }

  /** The calls as the vendor wants them back. Input that is no JSON becomes an empty object: servers choke on it. */
  rawCalls(): JsonObject[] {
    return this.calls().map(({ id, name, input, invalidInput }, position) => {
      const call = this.#calls[position];
      const isText = typeof call?.written === 'string' && call.written !== '' && invalidInput === undefined;
      return {
        ...call?.extras,
        id,
        type: 'function',
        function: { name, arguments: isText ? call.written : JSON.stringify(input) },
      };
    });
  }
}
