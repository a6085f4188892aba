import { RawConnection, requestBytes } from './http-client.ts';
import type { BenchService } from './service.ts';

/** Safe because the service answers JSON. */
function bodyOf(answer: string): unknown {
  const body: unknown = JSON.parse(Buffer.from(answer.slice(answer.indexOf('\r\n\r\n') + 4), 'latin1').toString());
  return body;
}

/** Calls the service over a connection of its own. */
export class KnowledgeClient {
  readonly #service: BenchService;
  readonly #connection: RawConnection;

  private constructor(service: BenchService, connection: RawConnection) {
    this.#service = service;
    this.#connection = connection;
  }

  static async open(service: BenchService): Promise<KnowledgeClient> {
    return new KnowledgeClient(service, await RawConnection.open({ host: '127.0.0.1', port: service.port }));
  }

  async call(method: string, path: string, body?: unknown): Promise<unknown> {
    const request = this.#service.request(method, `/v1/knowledge${path}`, body);
    return bodyOf(await this.#connection.send(requestBytes(request)));
  }

  async createBase(): Promise<string> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the contract says so
    return ((await this.call('POST', '', { name: 'bench' })) as { _id: string })._id;
  }

  async query(base: string, body: object): Promise<{ source: string; metadata: Record<string, unknown> }[]> {
    const answer = await this.call('POST', `/${base}/query`, body);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the contract says so
    return (answer as { results: { source: string; metadata: Record<string, unknown> }[] }).results;
  }

  close(): void {
    this.#connection.close();
  }
}

/** Works through items over so many connections at a time. */
export async function inParallel<Item>(
  items: readonly Item[],
  clients: readonly KnowledgeClient[],
  work: (client: KnowledgeClient, item: Item) => Promise<void>,
): Promise<void> {
  const rest = items.values();
  await Promise.all(
    clients.map(async (client) => {
      for (const item of rest) await work(client, item);
    }),
  );
}
