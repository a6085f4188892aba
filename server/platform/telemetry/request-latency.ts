import type { Metric, Registry } from 'prom-client';

/** One answered request. */
export interface RequestFacts {
  method: string;
  /** Path template. */
  route: string;
  status: number;
  durationMs: number;
}

interface Series {
  labels: { method: string; route: string; status: string };
  /** Observations by the first bucket that holds them; the last is for what none holds. */
  counts: number[];
  sumSeconds: number;
}

const NAME = 'tessera_http_request_duration_seconds';

/**
 * The latency histogram of requests. prom-client's own hashes the labels at each observation, which costs more than
 * the key check of the request it measures; this counts into arrays and makes the values when the page is read.
 */
export class RequestLatency {
  readonly name = NAME;
  readonly help = 'Requests by method, path template and status.';
  readonly type = 'histogram';
  readonly aggregator = 'sum';
  readonly #buckets: readonly number[];
  /** By route, method and status: a text of all three would be made and hashed for each request. */
  readonly #series = new Map<string, Map<string, Map<number, Series>>>();

  constructor(registry: Registry, buckets: readonly number[]) {
    this.#buckets = buckets;
    registry.registerMetric(asMetric(this));
  }

  record({ method, route, status, durationMs }: RequestFacts): void {
    const series = this.#series.get(route)?.get(method)?.get(status) ?? this.#open({ method, route, status });
    const seconds = durationMs / 1000;
    const found = this.#buckets.findIndex((bound) => seconds <= bound);
    const bucket = found === -1 ? this.#buckets.length : found;
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
    series.sumSeconds += seconds;
  }

  /** What the registry asks of a metric. */
  get() {
    const { name, help, type, aggregator } = this;
    const all = [...this.#series.values()]
      .flatMap((methods) => [...methods.values()])
      .flatMap((each) => [...each.values()]);
    const values = all.flatMap((series) => this.#valuesOf(series));
    return Promise.resolve({ name, help, type, aggregator, values });
  }

  #open({ method, route, status }: Omit<RequestFacts, 'durationMs'>): Series {
    const series = {
      labels: { method, route, status: String(status) },
      counts: Array.from({ length: this.#buckets.length + 1 }, () => 0),
      sumSeconds: 0,
    };
    const methods = this.#series.get(route) ?? new Map<string, Map<number, Series>>();
    const statuses = methods.get(method) ?? new Map<number, Series>();
    this.#series.set(route, methods.set(method, statuses.set(status, series)));
    return series;
  }

  /** Buckets are cumulative: each counts what the smaller ones do, too. */
  #valuesOf({ labels, counts, sumSeconds }: Series) {
    let total = 0;
    const buckets = counts.map((count, index) => {
      total += count;
      const le = this.#buckets[index] ?? '+Inf';
      return { labels: { ...labels, le }, value: total, metricName: `${NAME}_bucket` };
    });
    const sum = { labels, value: sumSeconds, metricName: `${NAME}_sum` };
    return [...buckets, sum, { labels, value: total, metricName: `${NAME}_count` }];
  }
}

/** Safe because the registry reads a metric by its name and what `get` gives, as it does those of its own kinds. */
function asMetric(latency: RequestLatency): Metric {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return latency as unknown as Metric;
}
