import { parseArgs } from 'node:util';
import type { Door } from '../../src/engine/types.ts';

const HELP = `Usage: npm run soak -w web-client -- [FLAGS]

Opens the built web client in headless Chromium against a broker that carries a steady stream, and measures frames,
memory and lost messages. Ends with a table in Markdown; exits with 1 when a frame froze, memory grew, or a message
was lost.

  --minutes COUNT    Time that is measured; fractions are possible. Default: 10.
  --rate COUNT       Messages a second. Default: 5,000.
  --door DOOR        Where the page is connected: node or gateway. The stream always enters at the node door.
                     Default: node.
  --topics COUNT     Topics that the messages are spread over. Default: 100.
  --views LIST       Views that are open, one after the other, for equal times. Messages is also paused and resumed.
                     Default: messages,tree,charts,wire.
  --profile FILE     Writes a CPU profile of the page there, and measures what profiling costs too.
  --output FILE      Writes the table there too.
`;

export const VIEWS = ['messages', 'tree', 'charts', 'wire'] as const;
export type View = (typeof VIEWS)[number];

export interface SoakOptions {
  readonly seconds: number;
  /** Messages a second. */
  readonly rate: number;
  readonly door: Door;
  readonly topics: number;
  readonly views: readonly View[];
  readonly profile: string | undefined;
  readonly output: string | undefined;
}

/**
 * @returns undefined if only help was requested, which was printed
 * @throws Error that names the flag and its allowed values
 */
export function readOptions(args: readonly string[]): SoakOptions | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '10' },
      rate: { type: 'string', default: '5000' },
      door: { type: 'string', default: 'node' },
      topics: { type: 'string', default: '100' },
      views: { type: 'string', default: VIEWS.join(',') },
      profile: { type: 'string' },
      output: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return undefined;
  }
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new Error(`--minutes wants a number above 0, not “${values.minutes}”`);
  return {
    seconds: Math.max(1, Math.round(minutes * 60)),
    rate: wholeNumber('rate', values.rate),
    door: oneOf('door', values.door, ['node', 'gateway']),
    topics: wholeNumber('topics', values.topics),
    views: values.views.split(',').map((view) => oneOf('views', view, VIEWS)),
    profile: values.profile,
    output: values.output,
  };
}

/** @throws Error where it is none above 0 */
export function wholeNumber(flag: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) {
    throw new Error(`--${flag} wants a whole number above 0, not “${text}”`);
  }
  return number;
}

/** @throws Error that says what there is */
export function oneOf<T extends string>(flag: string, text: string, choices: readonly T[]): T {
  const choice = choices.find((known) => known === text);
  if (choice === undefined) throw new Error(`--${flag} knows ${choices.join(', ')}, not “${text}”`);
  return choice;
}
