import { readFileSync } from 'node:fs';
import {
  appSyncEvents,
  awsIotCore,
  billOf,
  compare,
  estimate,
  nodeDoor,
  offerText,
  PROGRAMS,
  type Traffic,
  usdText,
} from '@apus/cost';
import { expect, it } from 'vitest';
import { blockOf } from './bench/block.ts';
import { PROGRAMS_BLOCK, programsMarkdown } from './bench/programs.ts';

const page = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

/** The cells of the table's rows. */
function rowsOf(text: string, title: string): string[][] {
  const [, table = ''] =
    new RegExp(`^\\| ${title} \\|.*\\n\\|[-|: ]+\\|\\n((?:\\|.*\\n)+)`, 'm').exec(text) ?? [];
  return table
    .trimEnd()
    .split('\n')
    .map((line) => line.split('|').slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim()));
}

const rows = rowsOf(page('docs/costs.md'), 'a month of this traffic');

/** `--publishes-per-hour 60` → `{ publishesPerHour: 60 }`. */
function workloadOf(flags: string): Parameters<typeof estimate>[0] {
  const fields = [...flags.matchAll(/--([a-z-]+) ([\d.]+)/g)].map(([, name = '', value]) => [
    name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
    Number(value),
  ]);
  return Object.fromEntries(fields);
}

const SERVICES = ['Apus, object door', 'AWS IoT Core', 'AWS AppSync Events', 'EMQX Serverless'];

/** The cells of a workload: the cheapest without a server that lacks nothing is bold. */
function cellsOf(flags: string): readonly string[] {
  const { usage, traffic } = estimate(workloadOf(flags));
  const offers = compare(traffic).map(({ service, bill: { usd }, misfits }) => ({ service, usd, misfits }));
  const serverless = [
    { usd: billOf(usage).usd, misfits: [] },
    ...SERVICES.map((service) => offers.find((each) => each.service === service) ?? { usd: 0, misfits: [] }),
  ];
  const fitting = serverless.filter(({ misfits }) => misfits.length === 0);
  const least = usdText(Math.min(...fitting.map(({ usd }) => usd)));
  const cells = serverless.map(offerText).map((text) => (text === least ? `**${text}**` : text));
  return [...cells, offerText(nodeDoor(traffic))];
}

const PAGES = ['docs/costs.md', 'docs/why-not-appsync.md'];
const rowsOfPages = PAGES.flatMap((name) =>
  rowsOf(page(name), 'a month of this traffic').map((cells) => [name, ...cells]),
);

it.each(rowsOfPages)(
  '%s, %s: the dollars are those of `apus cost`',
  (_page, _title, flags = '', ...dollars) => {
    expect(dollars).toEqual(cellsOf(flags));
  },
);

it('AppSync Events costs less than the gateway door in as many rows as docs/why-not-appsync.md says', () => {
  const cheaper = rows.filter(([, flags = '']) => {
    const { usage, traffic } = estimate(workloadOf(flags));
    return appSyncEvents(traffic).bill.usd < billOf(usage).usd;
  });
  expect([cheaper.length, rows.length]).toEqual([6, 7]);
  expect(page('docs/why-not-appsync.md')).toContain('In six of the seven rows');
});

/** IoT Core where subscribers have QoS 1, also those that acknowledge nothing at the gateway door. */
function atQos1(traffic: Traffic): string {
  const { acknowledgedDeliveries, sparedAcknowledgements } = traffic;
  const acknowledged = acknowledgedDeliveries + sparedAcknowledgements;
  return usdText(awsIotCore({ ...traffic, acknowledgedDeliveries: acknowledged }).bill.usd);
}

it('IoT Core at QoS 1 to subscribers costs what the pages say below their tables', () => {
  const dollars = rows.slice(1).map(([, flags = '']) => atQos1(estimate(workloadOf(flags)).traffic));
  const sentence = `${dollars.slice(0, -1).join(', ')} and ${dollars.at(-1)}`;
  for (const name of ['docs/costs.md', 'README.md']) expect(page(name)).toContain(sentence);
});

it('the six programs in docs/costs.md are those of `apus cost compare`', () => {
  const written = blockOf(page('docs/costs.md'), PROGRAMS_BLOCK);
  expect(written.trim(), 'npm run bench:cloud -- --programs').toBe(programsMarkdown());
});

it('the largest program costs at QoS 1 at IoT Core what docs/costs.md says', () => {
  const program = PROGRAMS.at(-1);
  const { traffic } = estimate({ ...program?.workload(program.clients) });
  expect(page('docs/costs.md')).toContain(`At QoS 1 to its subscribers it is ${atQos1(traffic)} there`);
});

it('the table of the README is that of docs/costs.md, without the flags', () => {
  const short = rows.map(([title = '', , ...dollars]) => [title, ...dollars]);
  expect(short.length).toBeGreaterThan(3);
  expect(rowsOf(page('README.md'), 'a month of this traffic')).toEqual(short);
});

it.each([
  [{}, 'says'],
  [{ movesPerDay: 0 }, 'with `--moves-per-day 0`'],
  [{ lossesPerDay: 4 }, 'lose four a day:'],
  [{ lossesPerDay: 4, resumedShare: 0 }, undefined],
])('a thousand idle clients with %j cost what docs/costs.md says', (given, words) => {
  const dollars = usdText(billOf(estimate({ clients: 1_000, ...given }).usage).usd);
  const sentence = words === undefined ? `${dollars} with \`--resumed-share 0\`` : `${words} ${dollars}`;
  expect(page('docs/costs.md')).toContain(sentence);
});

it.each([
  ['a GB in the table of sessions', 4_320],
  ['a GB in the table of messages', 30],
])('%s: the sweep reads it for what docs/costs.md says', (title, passes) => {
  const reads = (passes * 2 ** 30) / 8_192;
  const [, passesCell, usd, storage] =
    rowsOf(page('docs/costs.md'), 'stored all month').find(([name]) => name === title) ?? [];
  expect([passesCell, usd, storage]).toEqual([
    passes.toLocaleString('en'),
    usdText(billOf({ dynamodbReadUnits: reads }).usd),
    usdText(billOf({ dynamodbStorageGigabyteMonths: 1 }).usd),
  ]);
});
