import { randomBytes } from 'node:crypto';
import { setTimeout as sleepFor } from 'node:timers/promises';
import { priceBook, unitUsd, usdText } from '@apus/cost';
import type { ProbeContext, ProbeItem } from '../probe/item.ts';
import { PROBE_ITEMS, tryItem } from '../probe/items.ts';
import { ProbeClient, ProbeError } from '../probe/probe-client.ts';
import { type Command, CommandError } from './command.ts';
import { type Flags, UsageError, type Values } from './flags.ts';

const HOLD_SECONDS = 300;
const HOLD_SECONDS_MAX = 7_200;
const NAMES = PROBE_ITEMS.map(({ name }) => name);

/** Besides its messages an item causes requests to Lambda and DynamoDB, which together cost about as much. */
const COST_FACTOR = 2;

const DEPLOYMENT: Flags = {
  token: {
    value: 'TOKEN',
    help: 'A token that may publish and subscribe to apus-probe/# (`apus token`). The environment variable APUS_TOKEN is the safer place for it.',
  },
  'publish-url': { value: 'URL', help: 'The publish URL of the deployment; large-posts needs it.' },
  'publish-key': {
    value: 'KEY',
    help: 'The key of the publish URL. It is safer in the environment variable APUS_PUBLISH_KEY.',
  },
};

const WHAT: Flags = {
  only: {
    value: NAMES.join('|'),
    multiple: true,
    help: 'Runs only this probe; may be given more than once.',
  },
  'hold-seconds': {
    value: 'SECONDS',
    help: 'How long redeployment keeps its connections open.',
    default: String(HOLD_SECONDS),
  },
  'dry-run': { help: 'Prints what the probes would cost, and runs none.' },
};

export const probe: Command = {
  name: 'probe',
  summary: 'Tests on a deployment the behaviour of API Gateway that AWS does not document.',
  usage: 'URL [--token TOKEN] [--only ITEM]… [FLAGS]',
  description: [
    'Opens a few connections to wss://…/mqtt and tests behaviour of API Gateway that Apus relies on and AWS does not',
    'document (docs/deploy-operations.md). Prints a line for each probe; the exit code is 1 when something differs.',
    '',
    ...PROBE_ITEMS.map(({ name, summary }) => `  ${name.padEnd(14)}${summary}`),
  ].join('\n'),
  flags: { Deployment: DEPLOYMENT, What: WHAT },
  async run(values) {
    const asked = askedFor(values);
    const context = contextOf(values);
    const items = PROBE_ITEMS.filter(({ name }) => asked.length === 0 || asked.includes(name));
    console.log(announcement(items, asked));
    if (values.isSet('dry-run')) return 0;
    await requireReachable(context);
    let differing = 0;
    for (const item of items) {
      const { verdict, seen } = await tryItem(item, asked.includes(item.name), context);
      if (verdict === 'differs') differing += 1;
      console.log(`${verdict.padEnd(9)}  ${item.name.padEnd(12)}  ${seen}`);
    }
    return differing === 0 ? 0 : 1;
  },
};

function askedFor(values: Values): readonly string[] {
  const asked = values.all('only');
  const unknown = asked.find((name) => !NAMES.includes(name));
  if (unknown === undefined) return asked;
  throw new UsageError(`--only is one of ${NAMES.join(', ')}, not "${unknown}".`);
}

function contextOf(values: Values): ProbeContext {
  const [url, ...more] = values.positionals;
  if (url === undefined || more.length > 0)
    throw new UsageError('`apus probe` takes one URL: apus probe wss://…/mqtt.');
  if (!URL.canParse(url) || !/^wss?:$/.test(new URL(url).protocol))
    throw new UsageError(`A deployment's URL begins with wss://, not as "${url}".`);
  const publishUrl = values.text('publish-url');
  if (publishUrl !== undefined && !URL.canParse(publishUrl))
    throw new UsageError(`--publish-url takes a URL, not "${publishUrl}".`);
  return {
    url,
    token: values.text('token') ?? process.env.APUS_TOKEN,
    name: `probe-${randomBytes(4).toString('hex')}`,
    publish:
      publishUrl === undefined
        ? undefined
        : { url: publishUrl, key: values.text('publish-key') ?? process.env.APUS_PUBLISH_KEY },
    holdSeconds: values.count('hold-seconds', HOLD_SECONDS_MAX) ?? HOLD_SECONDS,
    sleep: async (ms) => {
      await sleepFor(ms);
    },
    say: (line) => console.error(line),
  };
}

/** Announces the cost and duration before the probe begins. */
function announcement(items: readonly ProbeItem[], asked: readonly string[]): string {
  const tried = items.filter(({ name, seconds }) => seconds !== undefined || asked.includes(name));
  const messages = tried.reduce((sum, { billedMessages }) => sum + billedMessages, 0);
  const usd = messages * unitUsd(priceBook.gatewayMessage) * COST_FACTOR;
  return `This sends about ${messages.toLocaleString('en')} messages, at most ${usdText(usd)} in all on AWS.`;
}

async function requireReachable(context: ProbeContext): Promise<void> {
  try {
    const client = await ProbeClient.connect(context, 'first');
    await client.end();
  } catch (error) {
    if (!(error instanceof ProbeError)) throw error;
    const hint = /HTTP 40[13]/.test(error.message)
      ? ' `apus token` makes a token; give it with --token.'
      : '';
    throw new CommandError(`${error.message}${hint}`);
  }
}
