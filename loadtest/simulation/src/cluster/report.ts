import { billOfCluster, type ClusterBill } from './bill.ts';
import { CASES, type Case } from './constants.ts';
import { type SizedCluster, sizeCluster } from './model.ts';
import type { ClusterWorkload } from './workload.ts';

const GIGABYTE = 1e9;
const MEGABYTE = 1e6;

/** Undefined instead of a case that no number of processes carries. */
export type ClusterPrediction = {
  readonly [C in Case]: (SizedCluster & { readonly bill: ClusterBill }) | undefined;
};

export function predictCluster(workload: ClusterWorkload): ClusterPrediction {
  const entries = CASES.map((bounds) => {
    const sized = sizeCluster(workload, bounds);
    return [bounds, sized && { ...sized, bill: billOfCluster(workload, sized) }];
  });
  return Object.fromEntries(entries) as ClusterPrediction;
}

type Predicted = NonNullable<ClusterPrediction[Case]>;

const ROWS: readonly (readonly [string, (found: Predicted) => string])[] = [
  ['processes', ({ processes, boundBy }) => `${processes}, by ${boundBy}`],
  ['a process: core, memory', ({ busy, bytes }) => `${percent(busy)}, ${gigabytes(bytes)}`],
  ['messages between processes', ({ hops }) => `${count(hops)}/s`],
  [
    'engine: core, memory, writes',
    ({ engine }) =>
      `${percent(engine.busy)}, ${gigabytes(engine.bytes)}, ${count(engine.bytesPerSecond / MEGABYTE)} MB/s`,
  ],
  ['engines that share it', ({ engine }) => (engine.count === 1 ? '1' : `**${engine.count}**`)],
  ['all are back, after the end of one process', ({ backSeconds }) => `${backSeconds.toFixed(1)} s`],
  ...[0, 1, 2].map((index): [string, (found: Predicted) => string] => [
    ['processes on Fargate', 'or on c7g', 'or on m7g'][index] ?? '',
    ({ bill }) => {
      const { name, count: machines, usd } = bill.machines[index] ?? { name: '', count: 0, usd: 0 };
      return `${machines} × ${name}: ${dollars(usd)}`;
    },
  ]),
  ['engine', ({ bill: { engine } }) => `${engine.nodes} × ${engine.name}: ${dollars(engine.usd)}`],
  [
    'load balancer',
    ({ bill: { loadBalancer } }) => `${count(loadBalancer.units)} units: ${dollars(loadBalancer.usd)}`,
  ],
  ['data between zones', ({ bill }) => dollars(bill.zonesUsd)],
  ['data out', ({ bill }) => `${count(bill.outGigabytes)} GB: ${dollars(bill.outUsd)}`],
  ['**a month**', ({ bill }) => `**${dollars(bill.usd)}**`],
  ['without data out', ({ bill }) => dollars(bill.usd - bill.outUsd)],
];

/** A table in Markdown, as loadtest/results/simulation.md has it. */
export function clusterReport(workload: ClusterWorkload): string {
  const prediction = predictCluster(workload);
  const rows = ROWS.map(([label, cell]) => {
    const cells = CASES.map((bounds) => {
      const found = prediction[bounds];
      return found === undefined ? 'no number of processes' : cell(found);
    });
    return `| ${[label, ...cells].join(' | ')} |`;
  });
  return ['| | least | usual | most |', '|---|---|---|---|', ...rows].join('\n');
}

/** Three significant digits. */
function count(value: number): string {
  const digits = Math.max(0, Math.floor(Math.log10(Math.max(1, value))) - 2);
  const unit = 10 ** digits;
  return (Math.round(value / unit) * unit).toLocaleString('en');
}

function dollars(usd: number): string {
  return `$${count(usd)}`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function gigabytes(bytes: number): string {
  return `${(bytes / GIGABYTE).toFixed(1)} GB`;
}
