import { readFileSync, writeFileSync } from 'node:fs';
import { offerText, programBids, quantityText, rangesText } from '@apus/cost';
import { withBlock } from './block.ts';

export const PROGRAMS_BLOCK = 'cost:compare';

/** The output of `apus cost compare`, in Markdown: a price in brackets is of a service that does not carry the traffic. */
export function programsMarkdown(): string {
  const outcomes = programBids();
  const services = (outcomes[0]?.bids ?? []).map(({ service }) => service);
  const head = ['a month of', 'clients', ...services];
  const dollars = outcomes.map(({ program, bids, withoutServer }) => {
    const best = [...withoutServer].reverse().find(({ from }) => from <= program.clients)?.service;
    const cells = bids.map((bid) => (bid.service === best ? `**${offerText(bid)}**` : offerText(bid)));
    return [program.name, quantityText(program.clients), ...cells];
  });
  const ranges = outcomes.map(({ program, withoutServer }) => [
    program.name,
    program.traffic,
    rangesText(withoutServer),
  ]);
  return [
    tableOf(
      head,
      head.map((_, column) => (column === 0 ? '---' : '--:')),
      dollars,
    ),
    tableOf(['', 'traffic', 'the cheapest without a server, by clients'], ['---', '---', '---'], ranges),
  ].join('\n\n');
}

export function writePrograms(file: URL): void {
  writeFileSync(file, withBlock(readFileSync(file, 'utf8'), PROGRAMS_BLOCK, programsMarkdown()));
}

function tableOf(
  head: readonly string[],
  marks: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  return [head, marks, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
