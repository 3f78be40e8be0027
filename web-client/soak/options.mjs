// What the soak test can be told on its command line.
import { parseArgs } from 'node:util';

const HELP = `Usage: npm run soak -w web-client -- [FLAGS]

Opens the built web client in headless Chromium against a broker that carries a steady stream, and measures frames,
memory and lost messages. Ends with a table in Markdown; exits with 1 when a frame froze or memory grew.

  --seconds COUNT    Time that is measured. Default: 600.
  --rate COUNT       Messages a second. Default: 5,000.
  --topics COUNT     Topics that they are spread over. Default: 100.
  --views LIST       Views that are open, one after the other, for equal times. Default: messages,tree,charts.
  --profile FILE     Writes a CPU profile of the page there, and measures what profiling costs too.
  --output FILE      Writes the table there too.
`;

export const VIEWS = ['messages', 'tree', 'charts'];

/**
 * @param {string[]} args
 * @returns {{ seconds: number, rate: number, topics: number, views: string[], profile?: string, output?: string }}
 */
export function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string', default: '600' },
      rate: { type: 'string', default: '5000' },
      topics: { type: 'string', default: '100' },
      views: { type: 'string', default: VIEWS.join(',') },
      profile: { type: 'string' },
      output: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    process.exit(0);
  }
  const views = values.views.split(',');
  const unknown = views.find((view) => !VIEWS.includes(view));
  if (unknown !== undefined)
    throw new Error(`--views: there is no view “${unknown}”, only ${VIEWS.join(', ')}`);
  return {
    seconds: positive('seconds', values.seconds),
    rate: positive('rate', values.rate),
    topics: positive('topics', values.topics),
    views,
    profile: values.profile,
    output: values.output,
  };
}

/** @param {string} name @param {string} text */
function positive(name, text) {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1)
    throw new Error(`--${name} wants a whole number, not “${text}”`);
  return number;
}
