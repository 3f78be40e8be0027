import type { BrokerKind } from './brokers/broker.ts';
import type { WiredCase } from './cases.ts';
import type { Sample } from './measure-case.ts';
import { COMPARED, type Figure, type Results, SHOWN } from './results.ts';
import { spreadOf } from './statistics.ts';
import type { WireName } from './wires.ts';

/**
 * The comparison as Markdown: ratios first, of brokers and of the wires of the first one, then each case with its
 * measurements, unless only ratios are asked for.
 */
export function tablesText(
  results: Results,
  cases: readonly WiredCase[],
  brokers: readonly BrokerKind[],
  isShort = false,
): string {
  const [ours, ...others] = brokers;
  if (ours === undefined) return '';
  const measured = cases.filter((each) => brokers.some((broker) => results.of(each, broker).length > 0));
  const ratios = [
    ...(others.length === 0 ? [] : [ratiosText(results, measured, ours, others)]),
    ...(namesOfWires(measured).length < 2 ? [] : [wiresText(results, measured, ours)]),
  ];
  if (isShort && ratios.length > 0) return ratios.join('\n\n');
  return [...ratios, ...measured.map((each) => caseText(results, each, brokers))].join('\n\n');
}

function ratiosText(
  results: Results,
  cases: readonly WiredCase[],
  ours: BrokerKind,
  others: readonly BrokerKind[],
): string {
  const head = [
    'case',
    'wire',
    'figure',
    ours.title,
    ...others.map(({ title }) => `${ours.title} : ${title}`),
  ];
  const rows = cases.flatMap((each) =>
    COMPARED[each.kind].map((figure) => [
      each.title,
      each.wire,
      figure.name,
      medianText(results, each, ours, figure),
      ...others.map((other) => ratioText(results.advantage(each, ours, other, figure))),
    ]),
  );
  return markdownTable(head, rows);
}

/** Each further wire beside the first. */
function wiresText(results: Results, cases: readonly WiredCase[], broker: BrokerKind): string {
  const [first = 'ws', ...others] = namesOfWires(cases);
  const head = ['case', 'figure', `${broker.title}, ${first}`, ...others.map((wire) => `${wire} : ${first}`)];
  const rows = cases
    .filter(({ wire }) => wire === first)
    .flatMap((each) =>
      COMPARED[each.kind].map((figure) => [
        each.title,
        figure.name,
        medianText(results, each, broker, figure),
        ...others.map((wire) => ratioText(results.wireAdvantage({ ...each, wire }, each, broker, figure))),
      ]),
    );
  return markdownTable(head, rows);
}

function namesOfWires(cases: readonly WiredCase[]): readonly WireName[] {
  return [...new Set(cases.map(({ wire }) => wire))];
}

function caseText(results: Results, given: WiredCase, brokers: readonly BrokerKind[]): string {
  const figures = SHOWN[given.kind];
  const isIdle = given.kind === 'idle' || given.kind === 'handshakes';
  const more = isIdle
    ? ['connected', 'resident MB']
    : ['cores busy', 'lost', 'doubled', 'out of order', 'generator late p99, ms'];
  const rows = brokers.map((broker) => {
    const samples = results.of(given, broker);
    if (samples.length === 0)
      return [
        broker.title,
        given.needsSharedSubscriptions && !broker.hasSharedSubscriptions ? 'has none' : '–',
      ];
    const measured = figures.map((figure) => spreadText(results, given, broker, figure));
    return [broker.title, ...measured, ...(isIdle ? idleCells(samples) : messageCells(samples))];
  });
  return `### ${given.title}, over ${given.wire}\n\n${markdownTable(['', ...figures.map(({ name }) => name), ...more], rows)}`;
}

function idleCells(samples: readonly Sample[]): readonly string[] {
  return [
    median(samples, ({ connected }) => connected, 0),
    median(samples, ({ residentBytes }) => residentBytes / 2 ** 20, 0),
  ];
}

function messageCells(samples: readonly Sample[]): readonly string[] {
  const sum = (read: (sample: Sample) => number) =>
    wholeText(samples.reduce((total, sample) => total + read(sample), 0));
  return [
    median(samples, ({ coresBusy }) => coresBusy, 2),
    sum(({ lost, inDoubt }) => lost + inDoubt),
    sum(({ duplicates }) => duplicates),
    sum(({ outOfOrder }) => outOfOrder),
    median(samples, ({ lagP99Ms }) => lagP99Ms, 1),
  ];
}

function median(samples: readonly Sample[], read: (sample: Sample) => number, digits: number): string {
  const value = spreadOf(samples.map(read))?.median ?? 0;
  return value.toLocaleString('en', { maximumFractionDigits: digits });
}

function medianText(results: Results, given: WiredCase, broker: BrokerKind, figure: Figure): string {
  const spread = results.spread(given, broker, figure);
  return spread === undefined ? '–' : figureText(spread.median, figure);
}

/** The median, and the lowest and highest value if rounds differ. */
function spreadText(results: Results, given: WiredCase, broker: BrokerKind, figure: Figure): string {
  const spread = results.spread(given, broker, figure);
  if (spread === undefined) return '–';
  const { median: middle, least, most, count } = spread;
  if (count === 1) return figureText(middle, figure);
  return `${figureText(middle, figure)} (${figureText(least, figure)}–${figureText(most, figure)})`;
}

/** Bold if the first is worse: a reader looks for these. */
function ratioText(ratio: number | undefined): string {
  if (ratio === undefined) return '–';
  const text = ratio.toLocaleString('en', { maximumSignificantDigits: 2 });
  return ratio < 1 ? `**${text}**` : text;
}

function figureText(value: number, { digits }: Figure): string {
  if (digits === 'whole') return wholeText(value);
  return value.toLocaleString('en', { maximumSignificantDigits: 3 });
}

/** Three significant digits: such a measurement is not more exact. */
function wholeText(value: number): string {
  return Math.round(value).toLocaleString('en', { maximumSignificantDigits: 3 });
}

function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${head.map((_, at) => cells[at] ?? '').join(' | ')} |`;
  const rule = `|${head.map((_, at) => (at === 0 ? '---' : '---:')).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}
