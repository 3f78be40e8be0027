import {
  type Bid,
  type BidOptions,
  bidsBySize,
  type CheapestRange,
  CLIENTS_MAX,
  NODE_DOOR,
  rangesOf,
} from './cheapest.ts';
import { PRICE_BOOK_DATE, PRICE_BOOK_REGION } from './price-book.ts';
import { PROGRAMS, type Program } from './programs.ts';
import { offerCell, quantityText, tableText } from './text.ts';

/** A program at its usual size, and the cheapest service by its size. */
export interface ProgramBids {
  readonly program: Omit<Program, 'workload'>;
  readonly bids: readonly Bid[];
  /** If no machine is wanted: the cheapest of all but the node door. */
  readonly withoutServer: readonly CheapestRange[];
  readonly withServer: readonly CheapestRange[];
}

export function programBids(options: BidOptions = {}): readonly ProgramBids[] {
  return PROGRAMS.map((program) => {
    const { name, traffic, clients } = program;
    const bidsAt = bidsBySize(program, options);
    return {
      program: { name, traffic, clients },
      bids: bidsAt(clients),
      withoutServer: rangesOf(bidsAt, (service) => service !== NODE_DOOR),
      withServer: rangesOf(bidsAt),
    };
  });
}

/** The cheapest services in words, such as `AWS IoT Core; Apus, gateway door from 1,000`. */
export function rangesText(ranges: readonly CheapestRange[]): string {
  return ranges
    .map(({ from, to, service }) => {
      if (from > 1) return `${service} from ${quantityText(from)}`;
      return to === CLIENTS_MAX ? `${service} at every size` : service;
    })
    .join('; ');
}

/** All programs as a table, and below it the cheapest service of each by its size, and why services are left out. */
export function programsText(outcomes: readonly ProgramBids[]): string {
  const services = (outcomes[0]?.bids ?? []).map(({ service }) => service);
  const rows = outcomes.map(({ program, bids }) => [
    program.name,
    quantityText(program.clients),
    ...bids.map(offerCell),
  ]);
  const details = outcomes.flatMap(({ program, bids, withoutServer, withServer }) => [
    '',
    `${program.name}: ${program.traffic}.`,
    `  The cheapest without a server, by clients: ${rangesText(withoutServer)}.`,
    `  With one: ${rangesText(withServer)}.`,
    ...bids.flatMap(({ service, misfits }) =>
      misfits.length > 0 ? [`  ${service}: ${misfits.join(' ')}`] : [],
    ),
  ]);
  return [
    `Six programs, each a month: list prices of ${PRICE_BOOK_REGION}, read in ${PRICE_BOOK_DATE} (apus cost prices); clients are those online together.`,
    '',
    tableText([['', 'clients', ...services], ...rows]),
    'In brackets: the service lacks what this traffic needs, and is left out of what is the cheapest.',
    ...details,
  ].join('\n');
}
