import type { Load } from './ways.ts';

/** CPU of the measuring process for one message to one connection, in µs. */
export interface Cost {
  /** User and system together. */
  readonly all: number;
  readonly system: number;
}

export function deliveredCost({ user, system }: NodeJS.CpuUsage, deliveries: number): Cost {
  return { all: (user + system) / deliveries, system: system / deliveries };
}

/** That of the round in the middle, by its sum. */
export function medianCost(costs: readonly Cost[]): Cost {
  const sorted = [...costs].sort((a, b) => a.all - b.all);
  return sorted[Math.floor(sorted.length / 2)] ?? { all: Number.NaN, system: Number.NaN };
}

const LOAD_WIDTH = 33;
const WIDTH = 16;

export function tableTitle(ways: readonly string[]): string {
  const columns = ['worker is less', 'posts are less', ...ways].map((name) => name.padEnd(WIDTH));
  return `${'endpoint messages QoS payload'.padEnd(LOAD_WIDTH)}${columns.join('')}`;
}

/** The ratios first: they hold on other machines. */
export function tableLine(scheme: string, load: Load, costs: ReadonlyMap<string, Cost>): string {
  const { messages, qos, payloadBytes } = load;
  const name = `${scheme.padEnd(9)}${String(messages).padStart(8)}${String(qos).padStart(4)}${`${payloadBytes} B`.padStart(8)}`;
  const ratios = ['worker', 'posts'].map((way) => timesLess(costs, way));
  const each = [...costs.values()].map(({ all, system }) => `${all.toFixed(1)} (${system.toFixed(1)})`);
  return `${name.padEnd(LOAD_WIDTH)}${[...ratios, ...each].map((column) => column.padEnd(WIDTH)).join('')}`;
}

function timesLess(costs: ReadonlyMap<string, Cost>, way: string): string {
  const [obvious, cost] = [costs.get(`obvious ${way}`), costs.get(way)];
  return obvious === undefined || cost === undefined ? '–' : `${(obvious.all / cost.all).toFixed(1)} times`;
}
