import { readFileSync } from 'node:fs';
import { awsIotCore, billOf, compare, estimate, nodeDoor, PROGRAMS, usdText } from '@apus/cost';
import { expect, it } from 'vitest';
import { blockOf } from './bench/block.ts';
import { PROGRAMS_BLOCK, programsMarkdown } from './bench/programs.ts';

const page = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

/** The cells of the table's rows, without the mark of the cheapest. */
function rowsOf(text: string, title: string): string[][] {
  const [, table = ''] =
    new RegExp(`^\\| ${title} \\|.*\\n\\|[-|: ]+\\|\\n((?:\\|.*\\n)+)`, 'm').exec(text) ?? [];
  return table
    .trimEnd()
    .split('\n')
    .map((line) => line.split('|').slice(1, -1))
    .map((cells) => cells.map((cell) => cell.replaceAll('**', '').trim()));
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

it.each(rows)('%s: the dollars in docs/costs.md are those of `apus cost`', (_, flags = '', ...dollars) => {
  const { usage, traffic } = estimate(workloadOf(flags));
  const offers = compare(traffic);
  const usdOf = (service: string) => {
    const offer = offers.find((each) => each.service === service);
    return offer?.misfits.length ? '–' : usdText(offer?.bill.usd ?? Number.NaN);
  };
  expect(dollars).toEqual([
    usdText(billOf(usage).usd),
    usdOf('AWS IoT Core'),
    usdOf('EMQX Serverless'),
    usdText(nodeDoor(traffic).usd),
  ]);
});

it('the six programs in docs/costs.md are those of `apus cost compare`', () => {
  const written = blockOf(page('docs/costs.md'), PROGRAMS_BLOCK);
  expect(written.trim(), 'npm run bench:cloud -- --programs').toBe(programsMarkdown());
});

it('the dashboard at QoS 1 costs as much as docs/costs.md says', () => {
  const dashboard = PROGRAMS.find(({ name }) => name.startsWith('a dashboard'));
  const { usage, traffic } = estimate({ ...dashboard?.workload(dashboard.clients), qos: 1 });
  const [there, here] = [awsIotCore(traffic).bill.usd, billOf(usage).usd].map(usdText);
  expect(page('docs/costs.md')).toContain(`The dashboard at QoS 1 would be ${there} there, and ${here} here`);
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
