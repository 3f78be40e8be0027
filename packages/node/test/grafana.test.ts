import { readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import { expect, test } from 'vitest';
import { nodeForTest } from './support/nodes.ts';
import { scrape } from './support/scrape.ts';

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
  readonly templating: { readonly list: readonly { readonly type: string; readonly query: string }[] };
}

const FILE = new URL('../../../docs/observability/grafana-node.json', import.meta.url);
const DASHBOARD = JSON.parse(readFileSync(FILE, 'utf8')) as Dashboard;

/** Grafana puts the variables in before Prometheus reads the query. */
const filled = (query: string): string =>
  query.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*');

/** Names of the metrics in a query, by Prometheus's own grammar; the query has to be right by it. */
function metricsIn(query: string): readonly string[] {
  const names: string[] = [];
  parser.parse(query).iterate({
    enter: ({ type, from, to }) => {
      if (type.isError) throw new Error(`not PromQL: ${query}`);
      if (type.name === 'Identifier' && !query.slice(to).startsWith('=')) names.push(query.slice(from, to));
    },
  });
  return names;
}

const QUERIES = DASHBOARD.panels.flatMap(({ targets }) => targets.map(({ expr }) => filled(expr)));

test('a query that is not PromQL is noticed, and a metric is found in one that is', () => {
  expect(() => metricsIn('rate(a[1m]')).toThrow('not PromQL');
  expect(metricsIn('rate(a_b{instance=~".*"}[1m])')).toEqual(['a_b']);
});

test('every metric of the Grafana dashboard is one that a node serves', async () => {
  const { httpUrl } = await nodeForTest();
  const { values } = await scrape(httpUrl);
  expect(QUERIES.length).toBeGreaterThan(20);
  for (const query of QUERIES) {
    const names = metricsIn(query);
    expect([query, names.length]).toEqual([query, 1]);
    for (const name of names) expect([name, values.has(name)]).toEqual([name, true]);
  }
});

test('a rate is of a counter, and no counter is shown as it is', async () => {
  const { httpUrl } = await nodeForTest();
  const { types } = await scrape(httpUrl);
  for (const query of QUERIES) {
    const [name = ''] = metricsIn(query);
    expect([query, query.startsWith('rate(')]).toEqual([query, types.get(name) === 'COUNTER']);
  }
});

test('the variables of the dashboard name a metric that a node serves', async () => {
  const { httpUrl } = await nodeForTest();
  const { values } = await scrape(httpUrl);
  for (const { query } of DASHBOARD.templating.list.filter(({ type }) => type === 'query')) {
    const [, name = ''] = /^label_values\((\w+), instance\)$/.exec(query) ?? [];
    expect([query, values.has(name)]).toEqual([query, true]);
  }
});
