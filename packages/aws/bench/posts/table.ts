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
function medianCost(costs: readonly Cost[]): Cost {
  const sorted = [...costs].sort((a, b) => a.all - b.all);
  return sorted[Math.floor(sorted.length / 2)] ?? { all: Number.NaN, system: Number.NaN };
}

const LOAD_WIDTH = 33;
const WIDTH = 16;

/** The pairs of ways that are compared. */
const COMPARED = [
  ['worker', 'obvious worker'],
  ['posts', 'obvious posts'],
  ['inline', 'obvious posts'],
] as const;

export function tableTitle(ways: readonly string[]): string {
  const ratios = COMPARED.map(([way]) => `${way}: less`);
  const columns = [...ratios, ...ways].map((name) => name.padEnd(WIDTH));
  return `${'endpoint messages QoS payload'.padEnd(LOAD_WIDTH)}${columns.join('  ')}`;
}

/** The ratios first: they hold on other machines. `costs`: of each way, round by round. */
export function tableLine(scheme: string, load: Load, costs: ReadonlyMap<string, readonly Cost[]>): string {
  const { messages, qos, payloadBytes } = load;
  const name = `${scheme.padEnd(9)}${String(messages).padStart(8)}${String(qos).padStart(4)}${`${payloadBytes} B`.padStart(8)}`;
  const ratios = COMPARED.map(([way, obvious]) => timesLess(costs.get(way), costs.get(obvious)));
  const each = [...costs.values()].map((rounds) => {
    const { all, system } = medianCost(rounds);
    return `${all.toFixed(1)} (${system.toFixed(1)})`;
  });
  return `${name.padEnd(LOAD_WIDTH)}${[...ratios, ...each].map((column) => column.padEnd(WIDTH)).join('  ')}`;
}

/** Two ways are compared in the same round: other load on the machine affects both. */
function timesLess(rounds: readonly Cost[] = [], obvious: readonly Cost[] = []): string {
  const ratios = rounds
    .map(({ all }, round) => (obvious[round]?.all ?? Number.NaN) / all)
    .filter((ratio) => !Number.isNaN(ratio))
    .sort((a, b) => a - b);
  const [least, middle, most] = [ratios[0], ratios[Math.floor(ratios.length / 2)], ratios.at(-1)];
  if (least === undefined || middle === undefined || most === undefined) return '–';
  return `${middle.toFixed(1)} (${least.toFixed(1)}–${most.toFixed(1)})`;
}
