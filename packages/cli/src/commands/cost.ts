import {
  type Bill,
  billOf,
  billText,
  choicesText,
  compare,
  type Estimate,
  estimate,
  type Finding,
  findingOf,
  type GivenWorkload,
  type Machine,
  meteredUsage,
  type NodeDoor,
  nodeDoor,
  type Offer,
  priceBook,
  priceBookText,
  programBids,
  programsText,
  quantityText,
  SMALL_MACHINE,
  type Usage,
  UsageFormatError,
  usdPerMillion,
  usdText,
  WorkloadError,
} from '@apus/cost';
import type { Command } from './command.ts';
import { COMMON_WORKLOAD_FLAGS, OTHER_WORKLOAD_FLAGS, readJson, workloadFrom } from './cost-workload.ts';
import { type Flags, UsageError, type Values } from './flags.ts';

const WORKLOAD: Flags = {
  workload: {
    value: 'FILE',
    help: 'JSON with the fields below in camel case, as {"clients": 1000, "publishesPerHour": 60}; - is standard input. Flags win over it.',
  },
  ...COMMON_WORKLOAD_FLAGS,
};

const OUTPUT: Flags = {
  usage: {
    value: 'FILE',
    help: 'Prices the metered usage of a run instead of an estimate: JSON of kinds of usage, as {"gatewayMessagesIn": 1000}, or {"counters": …, "units": …} of the emulator; - is standard input.',
  },
  json: { help: 'Prints everything as JSON.' },
  'free-tiers': { help: "Takes the providers' free tiers off, those of an account's first year included." },
  'machine-usd': {
    value: 'DOLLARS',
    help: `Price of a machine for the node door, a month. The default is that of ${SMALL_MACHINE.name}.`,
    default: SMALL_MACHINE.usdPerMonth,
  },
};

export const cost: Command = {
  name: 'cost',
  summary: 'Estimates what a month at the gateway door costs.',
  usage: '(--clients NUMBER [FLAGS] | --workload FILE | --usage FILE | prices | compare)',
  description: [
    'Example: apus cost --clients 1000 --hours 8 --publishes-per-hour 60 --fan-out 10 --qos 1 --bytes 200',
    '',
    'Prints the bill of a month, the same traffic at other services and at the node door, the largest line, what',
    'would lower it, and what all of it rests on. `apus cost prices` prints the prices with date and source;',
    '`apus cost compare` six programs at each service, and which is the cheapest from how many clients on.',
  ].join('\n'),
  flags: { Output: OUTPUT, Workload: WORKLOAD, 'Finer assumptions': OTHER_WORKLOAD_FLAGS },
  async run(values) {
    const [positional, ...more] = values.positionals;
    if (positional !== undefined || values.isSet('usage'))
      values.refuse({ ...WORKLOAD, ...OTHER_WORKLOAD_FLAGS }, 'is for the estimate of a workload alone.');
    if (positional === 'prices' && more.length === 0) return printPrices(values);
    if (positional === 'compare' && more.length === 0) return printPrograms(values);
    if (positional !== undefined)
      throw new UsageError(`\`apus cost\` takes flags, or "prices" or "compare", not "${positional}".`);
    if (values.isSet('usage')) return printMetered(values);
    const answer = answerTo(workloadFrom(values), values);
    console.log(values.isSet('json') ? JSON.stringify(answer, null, 2) : textOf(answer));
    return 0;
  },
};

interface Answer extends Omit<Estimate, 'usage' | 'operations'> {
  readonly bill: Bill;
  readonly usdPerMillionDeliveries: number | undefined;
  readonly offers: readonly Offer[];
  readonly nodeDoor: NodeDoor;
  readonly finding: Finding;
}

function answerTo(given: GivenWorkload, values: Values): Answer {
  const options = { freeTiers: values.isSet('free-tiers') };
  const { usage, operations, ...rest } = estimated(given);
  const bill = billOf(usage, options);
  const offers = compare(rest.traffic, options);
  const machine = nodeDoor(rest.traffic, machineFrom(values), options);
  return {
    ...rest,
    bill,
    usdPerMillionDeliveries: usdPerMillion(bill.usd, rest.traffic.deliveries),
    offers,
    nodeDoor: machine,
    finding: findingOf(bill, { operations, offers, nodeDoor: machine }),
  };
}

function estimated(given: GivenWorkload): Estimate {
  try {
    return estimate(given);
  } catch (error) {
    if (error instanceof WorkloadError) throw new UsageError(`${error.message}.`);
    throw error;
  }
}

function machineFrom(values: Values): Machine {
  const text = values.text('machine-usd');
  if (text === undefined) return SMALL_MACHINE;
  const usdPerMonth = Number(text);
  if (!(usdPerMonth > 0)) throw new UsageError(`--machine-usd takes a number above 0, not "${text}".`);
  return { ...SMALL_MACHINE, name: 'the machine given', usdPerMonth };
}

/** The bill for measured counts, without assumptions. */
function printMetered(values: Values): number {
  const bill = billOf(readUsage(values.text('usage') ?? '-'), { freeTiers: values.isSet('free-tiers') });
  const finding = findingOf(bill, {});
  const text = `${billText(bill)}\n\n${finding.sentences.join('\n')}`;
  console.log(values.isSet('json') ? JSON.stringify({ bill, finding }, null, 2) : text);
  return 0;
}

function readUsage(file: string): Usage {
  try {
    return meteredUsage(readJson(file, 'usage'));
  } catch (error) {
    if (error instanceof UsageFormatError) throw new UsageError(`${error.message}.`);
    throw error;
  }
}

function printPrograms(values: Values): number {
  const outcomes = programBids({ freeTiers: values.isSet('free-tiers'), machine: machineFrom(values) });
  console.log(values.isSet('json') ? JSON.stringify(outcomes, null, 2) : programsText(outcomes));
  return 0;
}

function printPrices(values: Values): number {
  console.log(values.isSet('json') ? JSON.stringify(priceBook, null, 2) : priceBookText());
  return 0;
}

function textOf(answer: Answer): string {
  const { bill, offers, finding, traffic } = answer;
  const choices = [
    { name: 'Apus, gateway door', usd: bill.usd, misfits: [] },
    { name: 'Apus, node door', usd: answer.nodeDoor.usd, misfits: answer.nodeDoor.misfits },
    ...offers.map((offer) => ({ name: offer.service, usd: offer.bill.usd, misfits: offer.misfits })),
  ];
  const resting = [
    ...answer.assumptions,
    ...offers.flatMap(({ service, assumptions }) => assumptions.map((each) => `${service}: ${each}`)),
    ...answer.nodeDoor.assumptions.map((each) => `Node door: ${each}`),
  ];
  return [
    `${headingOf(answer)}\n`,
    `${billText(bill)}\n`,
    `${floorText(answer)}\n`,
    `The same traffic elsewhere:\n${choicesText(choices, traffic.deliveries)}\n`,
    `${finding.sentences.join('\n')}\n`,
    `Assumptions:\n${resting.map((each) => `- ${each}`).join('\n')}`,
  ].join('\n');
}

function headingOf({ workload, traffic }: Answer): string {
  const { clients, hours, days } = workload;
  return (
    `A month of ${days} days at the gateway door: ${quantityText(clients)} clients, ${hours} hours a day each; ` +
    `${quantityText(traffic.publishes)} messages published, ${quantityText(traffic.deliveries)} delivered.`
  );
}

function floorText({ bill, floor, usdPerMillionDeliveries }: Answer): string {
  const perMillion =
    usdPerMillionDeliveries === undefined
      ? ''
      : `, ${usdText(usdPerMillionDeliveries)} per million deliveries`;
  return (
    `${usdText(bill.usd)} a month${perMillion}. Frames that cannot be avoided and connection-minutes are ` +
    `${usdText(floor.usd)} of it; ${usdText(Math.max(0, bill.usd - floor.usd))} come on top.`
  );
}
