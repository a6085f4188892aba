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
  readonly #series = new Map<string, Series>();

  constructor(registry: Registry, buckets: readonly number[]) {
    this.#buckets = buckets;
    registry.registerMetric(asMetric(this));
  }

  record({ method, route, status, durationMs }: RequestFacts): void {
    const id = `${method} ${route} ${status}`;
    const series = this.#series.get(id) ?? this.#open(id, { method, route, status: String(status) });
    const seconds = durationMs / 1000;
    const found = this.#buckets.findIndex((bound) => seconds <= bound);
    const bucket = found === -1 ? this.#buckets.length : found;
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
    series.sumSeconds += seconds;
  }

  /** What the registry asks of a metric. */
  get() {
    const { name, help, type, aggregator } = this;
    const values = [...this.#series.values()].flatMap((series) => this.#valuesOf(series));
    return Promise.resolve({ name, help, type, aggregator, values });
  }

  #open(id: string, labels: Series['labels']): Series {
    const series = { labels, counts: Array.from({ length: this.#buckets.length + 1 }, () => 0), sumSeconds: 0 };
    this.#series.set(id, series);
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
