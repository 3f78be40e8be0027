import { choicesText, quantityText, tableText, usdText } from '@apus/cost';
import type { Percentiles } from '../measure/index.ts';
import type { RunBill } from './bill-of-run.ts';
import type { Report } from './report.ts';

/** The most frequent kinds of problems that are listed. */
const PROBLEMS_SHOWN = 12;

/** The report for people. */
export function reportText(report: Report): string {
  const parts = [
    headText(report),
    countsText(report),
    latencyText(report),
    brokerText(report),
    goalsText(report),
    problemsText(report),
    report.bill === undefined ? '' : billPart(report.bill, report),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function headText(report: Report): string {
  const { scenario, machine, seconds } = report;
  const part = report.part.of === 1 ? '' : `, part ${report.part.number} of ${report.part.of}`;
  const lines = [
    `${scenario.name}: ${scenario.title}`,
    `  source     ${scenario.source}`,
    `  target     ${report.target} (${report.door} door), MQTT ${report.mqttVersion}, ${report.generator} generator`,
    `  size       ${quantityText(report.clients)} clients, ${scaleText(report.scale)}${part}`,
    `  time       ${secondsText(seconds.connecting)} connecting, ${secondsText(seconds.publishing)} publishing, ${secondsText(seconds.draining)} waiting for the rest`,
    `  machine    ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGigabytes} GB, ${machine.system}, Node.js ${machine.node}`,
    ...(report.published === undefined ? [] : [`  published  ${report.published}`]),
    ...(report.wasStopped
      ? ['  This run was stopped before its time: what follows is what it had until then.']
      : []),
  ];
  return lines.join('\n');
}

function scaleText(scale: number): string {
  if (scale === 1) return 'full size';
  return `${(scale * 100).toLocaleString('en', { maximumSignificantDigits: 3 })}% of the published size`;
}

function countsText({ outcome, rates }: Report): string {
  const { deliveries, publishes, connections } = outcome;
  const rows: [string, number, string][] = [
    [
      'Connections',
      connections.connected,
      `of ${quantityText(connections.asked)}, ${perSecond(rates.connectsPerSecond)}`,
    ],
    ['  lost while running', connections.lost, ''],
    ['Published', publishes.sent, perSecond(rates.publishesPerSecond)],
    ['  not acknowledged', publishes.unacknowledged, ''],
    ['  due and not sent', publishes.notSent, ''],
    [
      'Deliveries',
      deliveries.received,
      `of ${quantityText(deliveries.expected)}, ${perSecond(rates.deliveriesPerSecond)}`,
    ],
    ['  lost', deliveries.lost, ''],
    ['  in doubt', deliveries.inDoubt, ''],
    ['  duplicates', deliveries.duplicates, ''],
    ['  out of order', deliveries.outOfOrder, ''],
    ['  unexpected', deliveries.unexpected + deliveries.foreign, ''],
  ];
  return tableText(rows.map(([name, count, more]) => [name, quantityText(count), more]))
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

function latencyText({ outcome }: Report): string {
  const rows: [string, Percentiles][] = [
    ['Delivery', outcome.deliveries.latencyMs],
    ['PUBACK or PUBCOMP', outcome.publishes.acknowledgeMs],
    ['Connect', outcome.connections.connectMs],
    ['Generator late', outcome.generator.lagMs],
  ];
  const head = ['milliseconds', 'mean', 'p50', 'p95', 'p99', 'p99.9', 'max'];
  const lines = rows
    .filter(([, percentiles]) => percentiles.count > 0)
    .map(([name, { mean, p50, p95, p99, p999, max }]) => [
      name,
      ...[mean, p50, p95, p99, p999, max].map(msText),
    ]);
  return tableText([head, ...lines]);
}

function brokerText({ broker, outcome }: Report): string {
  const { processes, cpuSeconds } = outcome.generator;
  const generator = `Generator: ${processes} ${processes === 1 ? 'process' : 'processes'}, ${secondsText(cpuSeconds)} of CPU.`;
  if (broker === undefined) return generator;
  const each =
    broker.deliveriesPerCpuSecond === undefined
      ? ''
      : `, ${quantityText(Math.round(broker.deliveriesPerCpuSecond))} deliveries per CPU second`;
  return `${generator}\nBroker process: ${secondsText(broker.cpuSeconds)} of CPU${each}, ${quantityText(Math.round(broker.residentBytes / 2 ** 20))} MB resident at the end.`;
}

function goalsText({ goals }: Report): string {
  return goals
    .map(({ goal, measured, isMet }) => `Goal, ${goal}: ${isMet ? 'met' : 'missed'} (${msText(measured)}).`)
    .join('\n');
}

function problemsText({ problems }: Report): string {
  if (problems.length === 0) return '';
  const lines = problems.slice(0, PROBLEMS_SHOWN).map((each) => `- ${each}`);
  const more = problems.length - lines.length;
  return ['Problems:', ...lines, ...(more > 0 ? [`- and ${more} other things: see the JSON.`] : [])].join(
    '\n',
  );
}

function billPart(bill: RunBill, { door, outcome }: Report): string {
  const rows = bill.lines.map(({ label, quantity, usd, share, basis }) => [
    label,
    quantityText(quantity),
    usdText(usd),
    `${(share * 100).toFixed(1)}%`,
    basis,
  ]);
  const would = door === 'gateway' ? 'cost' : 'would have cost';
  const others = [
    { name: 'Apus, gateway door', usd: bill.usd, misfits: [] },
    ...bill.offers.map((offer) => ({ name: offer.service, usd: offer.bill.usd, misfits: offer.misfits })),
  ];
  return [
    `The bill: what this run ${would} at the gateway door, without anything that is paid by the month`,
    tableText([['line', 'quantity', 'dollars', 'share', 'basis'], ...rows]),
    `${summaryOf(bill)}\n${basisText(bill)}`,
    `The same traffic elsewhere:\n${choicesText(others, outcome.deliveries.received)}`,
    bill.finding.join('\n'),
  ].join('\n\n');
}

function summaryOf(bill: RunBill): string {
  const { usd, usdPerMillionDeliveries: all, messagesUsdPerMillionDeliveries: messages, floor } = bill;
  const perMillion = all === undefined ? '' : `, ${usdText(all)} per million deliveries`;
  const alone =
    messages === undefined
      ? ''
      : ` Without connecting and being online, as in a longer run, it is ${usdText(messages)} per million.`;
  return `${usdText(usd)}${perMillion}.${alone} Frames that cannot be avoided and connection-minutes: ${usdText(floor.usd)}.`;
}

const BASIS_TEXTS = {
  counted: 'counted by the emulator while it ran (Lambda time is that of this machine)',
  measured: 'measured by the clients as frames',
  estimated: 'estimated from what was connected, published and delivered',
} as const;

function basisText({ lines }: RunBill): string {
  const bases = [...new Set(lines.map(({ basis }) => basis))];
  return bases.map((basis) => `${basis}: ${BASIS_TEXTS[basis]}.`).join('\n');
}

function perSecond(value: number): string {
  return `${quantityText(Math.round(value))}/s`;
}

function secondsText(seconds: number): string {
  return `${seconds.toLocaleString('en', { maximumFractionDigits: 1 })} s`;
}

function msText(ms: number): string {
  return ms.toLocaleString('en', { maximumFractionDigits: ms < 10 ? 2 : ms < 100 ? 1 : 0 });
}
