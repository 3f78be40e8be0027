import { csvOf, USAGE_STEPS, type UsageLine, usageCsv } from '@apus/broker';
import { billText, GIGABYTE, INVOICE_FIELDS, invoiceOf, tableText } from '@apus/cost';
import type { UsageAnswer } from '../operate/operator.ts';
import type { Command } from './command.ts';
import { type Flags, UsageError, type Values } from './flags.ts';
import { BROKER_FLAGS, operating, operatorFrom } from './operate-flags.ts';

const FORMATS = ['table', 'json', 'csv'] as const;

const QUESTION: Flags = {
  from: {
    value: 'TIME',
    help: 'A month, a day or an hour in UTC: 2026-11, 2026-11-25 or 2026-11-25T18.',
    default: 'this month',
  },
  to: { value: 'TIME', help: 'The end, which does not belong to it.', default: 'now' },
  by: { value: USAGE_STEPS.join('|'), help: 'A line for each.', default: 'total' },
};

const OUTPUT: Flags = {
  format: { value: FORMATS.join('|'), help: 'How it is printed.', default: 'table' },
  invoice: {
    help: 'Prints the lines of an invoice for each tenant, at the list prices of `apus cost prices`.',
  },
  margin: { value: 'PERCENT', help: 'What the invoice adds to each price.', default: '0' },
};

const MARGIN_MAX = 10_000;
const MINUTE_MS = 60_000;
const MONTH_SECONDS = 30 * 86_400;

export const usage: Command = {
  name: 'usage',
  summary: 'Says what each tenant has used, and what it costs.',
  usage: '[--tenant NAME] [--from TIME] [--to TIME] [FLAGS] [--url URL | --stack NAME]',
  description: [
    'Connection-minutes, messages, bytes, billed frames and storage, as the broker counts them (docs/usage.md).',
    '',
    'Examples: apus usage --tenant acme --from 2026-11 --to 2026-12 --by day',
    '          apus usage --from 2026-11 --to 2026-12 --invoice --margin 30',
    '          apus usage --by hour --format csv',
  ].join('\n'),
  flags: { Question: QUESTION, Output: OUTPUT, Broker: BROKER_FLAGS },
  async run(values) {
    values.refusePositionals('usage');
    const format = values.oneOf('format', FORMATS) ?? 'table';
    const invoice = invoiceFrom(values);
    const asked = { tenant: values.text('tenant'), from: values.text('from'), to: values.text('to') };
    const operator = operatorFrom(values);
    await operating(async () => {
      const answer = await operator.usage({ ...asked, by: values.oneOf('by', USAGE_STEPS) });
      console.log(invoice === undefined ? textOf(answer, format) : invoiceText(answer, invoice, format));
    });
    return 0;
  },
};

/** The margin as a fraction, if the flags ask for an invoice. */
function invoiceFrom(values: Values): number | undefined {
  const margin = values.count('margin', MARGIN_MAX);
  if (values.isSet('invoice')) return (margin ?? 0) / 100;
  if (margin !== undefined) throw new UsageError('--margin is for --invoice.');
  return undefined;
}

function textOf(answer: UsageAnswer, format: (typeof FORMATS)[number]): string {
  if (format === 'json') return JSON.stringify(answer, undefined, 2);
  if (format === 'csv') return usageCsv(answer.data);
  return [spanOf(answer), tableText([HEAD, ...answer.data.map(cellsOf)], 2)].join('\n');
}

const HEAD = [
  ...['tenant', 'time', 'connection-minutes', 'messages in', 'out QoS 0', 'QoS 1', 'QoS 2'],
  ...['MB in', 'MB out', 'frames in', 'out', 'GB-months', 'uncertain s'],
];

function cellsOf(line: UsageLine): readonly string[] {
  return [
    ...[line.tenant, line.time, (line.connectionMs / MINUTE_MS).toFixed(1), String(line.messagesIn)],
    ...[line.messagesOutQos0, line.messagesOutQos1, line.messagesOutQos2].map(String),
    ...[(line.bytesIn / 1e6).toFixed(3), (line.bytesOut / 1e6).toFixed(3)],
    ...[String(line.framesIn), String(line.framesOut)],
    (line.storageByteSeconds / GIGABYTE / MONTH_SECONDS).toFixed(6),
    String(line.uncertainMs / 1000),
  ];
}

function spanOf({ meta: { from, to } }: UsageAnswer): string {
  return `From ${from} to ${to}, UTC:`;
}

function invoiceText(answer: UsageAnswer, margin: number, format: (typeof FORMATS)[number]): string {
  const invoices = answer.data.map((line) => {
    const used = Object.fromEntries(INVOICE_FIELDS.map((field) => [field, line[field]]));
    return { tenant: line.tenant, time: line.time, ...invoiceOf(used as unknown as UsageLine, margin) };
  });
  if (format === 'json')
    return JSON.stringify({ data: invoices, meta: { ...answer.meta, margin } }, undefined, 2);
  if (format === 'csv') {
    const rows = invoices.flatMap(({ tenant, time, lines }) =>
      lines.map((line) => ({ tenant, time, ...line })),
    );
    return csvOf(['tenant', 'time', 'label', 'quantity', 'unitUsd', 'usd'], rows);
  }
  const texts = invoices.map((invoice) => `\n${invoice.tenant}, ${invoice.time}\n${billText(invoice)}`);
  return [spanOf(answer), ...texts].join('\n');
}
