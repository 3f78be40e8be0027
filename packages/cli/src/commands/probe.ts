import { randomBytes } from 'node:crypto';
import { setTimeout as sleepFor } from 'node:timers/promises';
import { priceBook, unitUsd, usdText } from '@apus/cost';
import type { ProbeContext, ProbeItem } from '../probe/item.ts';
import { PROBE_ITEMS, tryItem } from '../probe/items.ts';
import { ObjectClient } from '../probe/object-client.ts';
import { OBJECT_ITEMS } from '../probe/object-items.ts';
import { ProbeClient, ProbeError } from '../probe/probe-client.ts';
import { type Command, CommandError } from './command.ts';
import { type Flags, UsageError, type Values } from './flags.ts';

const HOLD_SECONDS = 300;
const HOLD_SECONDS_MAX = 7_200;
const NAMES = [...PROBE_ITEMS, ...OBJECT_ITEMS].map(({ name }) => name);

/** Cloudflare bills as one request so many messages that an object receives. */
const MESSAGES_A_REQUEST = 20;

/** Besides its messages an item causes requests to Lambda and DynamoDB, or rows and duration, which cost about as much. */
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
  door: {
    value: 'gateway|object',
    help: 'Where the deployment runs: API Gateway, or Durable Objects of Cloudflare.',
    default: 'gateway',
  },
  only: {
    value: NAMES.join('|'),
    multiple: true,
    help: 'Runs only this probe; may be given more than once.',
  },
  'hold-seconds': {
    value: 'SECONDS',
    help: 'How long redeployment and idle-bill keep their connections open.',
    default: String(HOLD_SECONDS),
  },
  'dry-run': { help: 'Prints what the probes would cost, and runs none.' },
};

export const probe: Command = {
  name: 'probe',
  summary: 'Tests on a deployment the behaviour of its platform that no documentation promises.',
  usage: 'URL [--token TOKEN] [--only ITEM]… [FLAGS]',
  description: [
    'Opens a few connections to wss://…/mqtt and tests behaviour of API Gateway that Apus relies on and AWS does not',
    'document (docs/deploy-operations.md); with --door object, of Cloudflare (docs/object-door.md). Prints a line for each',
    'probe; the exit code is 1 when something differs.',
    '',
    ...PROBE_ITEMS.map(({ name, summary }) => `  ${name.padEnd(14)}${summary}`),
    '',
    'With --door object:',
    ...OBJECT_ITEMS.map(({ name, summary }) => `  ${name.padEnd(14)}${summary}`),
  ].join('\n'),
  flags: { Deployment: DEPLOYMENT, What: WHAT },
  async run(values) {
    const isObject = isAtObject(values);
    const ofDoor = isObject ? OBJECT_ITEMS : PROBE_ITEMS;
    const asked = askedFor(values, ofDoor);
    const context = contextOf(values);
    const items = ofDoor.filter(({ name }) => asked.length === 0 || asked.includes(name));
    console.log(announcement(items, asked, isObject));
    if (values.isSet('dry-run')) return 0;
    await requireReachable(context, isObject);
    let differing = 0;
    for (const item of items) {
      const { verdict, seen } = await tryItem(item, asked.includes(item.name), context);
      if (verdict === 'differs') differing += 1;
      console.log(`${verdict.padEnd(9)}  ${item.name.padEnd(12)}  ${seen}`);
    }
    return differing === 0 ? 0 : 1;
  },
};

function isAtObject(values: Values): boolean {
  const door = values.text('door') ?? 'gateway';
  if (door === 'gateway' || door === 'object') return door === 'object';
  throw new UsageError(`--door is gateway or object, not "${door}".`);
}

function askedFor(values: Values, items: readonly ProbeItem[]): readonly string[] {
  const asked = values.all('only');
  const names = items.map(({ name }) => name);
  const unknown = asked.find((name) => !names.includes(name));
  if (unknown === undefined) return asked;
  throw new UsageError(`--only is one of ${names.join(', ')}, not "${unknown}".`);
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
function announcement(items: readonly ProbeItem[], asked: readonly string[], isObject: boolean): string {
  const tried = items.filter(({ name, seconds }) => seconds !== undefined || asked.includes(name));
  const messages = tried.reduce((sum, { billedMessages }) => sum + billedMessages, 0);
  const unit = isObject
    ? unitUsd(priceBook.objectRequest) / MESSAGES_A_REQUEST
    : unitUsd(priceBook.gatewayMessage);
  const usd = messages * unit * COST_FACTOR;
  const where = isObject ? 'at Cloudflare' : 'on AWS';
  return `This sends about ${messages.toLocaleString('en')} messages, at most ${usdText(usd)} in all ${where}.`;
}

async function requireReachable(context: ProbeContext, isObject: boolean): Promise<void> {
  try {
    const Client = isObject ? ObjectClient : ProbeClient;
    const client = await Client.connect(context, 'first');
    await client.end();
  } catch (error) {
    if (!(error instanceof ProbeError)) throw error;
    const hint = /HTTP 40[13]/.test(error.message)
      ? ' `apus token` makes a token; give it with --token.'
      : '';
    throw new CommandError(`${error.message}${hint}`);
  }
}
