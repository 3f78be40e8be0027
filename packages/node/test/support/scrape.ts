import parse from 'parse-prometheus-text-format';

export interface Scraped {
  readonly status: number;
  readonly contentType: string | null;
  /** By name. */
  readonly values: ReadonlyMap<string, number>;
  readonly types: ReadonlyMap<string, string>;
}

/** Reads `/api/v5/prometheus/stats` as Prometheus does. */
export async function scrape(
  httpUrl: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Scraped> {
  const response = await fetch(new URL('/api/v5/prometheus/stats', httpUrl), { headers });
  const text = await response.text();
  const families = response.ok ? parse(text) : [];
  return {
    status: response.status,
    contentType: response.headers.get('content-type'),
    values: new Map(families.map(({ name, metrics }) => [name, Number(metrics[0]?.value)])),
    types: new Map(families.map(({ name, type }) => [name, type])),
  };
}
