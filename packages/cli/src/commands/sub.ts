import { isUtf8 } from 'node:buffer';
import { parseTopicFilter, Violation } from '@apus/mqtt';
import type { IClientOptions, IClientSubscribeOptions, IPublishPacket, MqttClient } from 'mqtt';
import { CLIENT_FLAGS, qosFrom, reasonOf, versionFrom } from './client-flags.ts';
import { type Command, CommandError } from './command.ts';
import { connectClient } from './connect-client.ts';
import { type Flags, UsageError, type Values } from './flags.ts';

const FAILURE = 0x80;

const SUBSCRIPTION: Flags = {
  topic: {
    value: 'FILTER',
    short: 't',
    multiple: true,
    help: 'Topic filter; may be given more than once. Required.',
  },
  qos: { value: '0|1|2', short: 'q', help: 'Quality of service.', default: '0' },
  'no-local': { help: 'Leaves out the messages that this client publishes (MQTT 5).' },
  'retain-as-published': { help: 'Shows the RETAIN flag as it was published (MQTT 5).' },
  'retain-handling': {
    value: '0|1|2',
    help: 'Retained messages: 0 all, 1 of new subscriptions, 2 none (MQTT 5).',
    default: '0',
  },
  rewind: {
    value: 'N|TIME',
    help: 'First the last N messages of each topic, or those of the last 10s, 5m, 2h, 1d: of topics that a stream keeps (MQTT 5).',
  },
  'stream-offset': {
    value: 'earliest|latest|TIME',
    help: 'Begins with the oldest message that the stream keeps, now, or with the first one from a time on: milliseconds since 1970, or as 2026-11-24T12:00:00Z (MQTT 5).',
  },
  'stream-position': {
    value: 'POSITION',
    multiple: true,
    help: 'Begins behind the message with this `stream-position`; for a filter with wildcards "POSITION TOPIC", once for each topic (MQTT 5).',
  },
  keep: { help: 'Resumes the session of an earlier run, and keeps it after this one (needs --client-id).' },
};

const OUTPUT: Flags = {
  count: { value: 'N', short: 'c', help: 'Ends after this many messages.' },
  verbose: { short: 'v', help: 'Puts the topic before each payload.' },
  json: { help: 'Prints each message as one line of JSON.' },
};

/** In MQTT 5 a session outlives its connection only if the client asks for it: here for a day. */
const KEPT_SECONDS = 24 * 60 * 60;

export const sub: Command = {
  name: 'sub',
  summary: 'Subscribes, and prints the messages.',
  usage: '-t FILTER [FLAGS]',
  description: "Example: apus sub -t 'hello/#' -v",
  flags: { Subscription: SUBSCRIPTION, Output: OUTPUT, Connection: CLIENT_FLAGS },
  async run(values) {
    const filters = values.all('topic');
    if (filters.length === 0 || values.positionals.length > 0) {
      throw new UsageError('`apus sub` needs a topic filter: -t FILTER.');
    }
    for (const filter of filters) {
      const parsed = parseTopicFilter(filter);
      if (parsed instanceof Violation) throw new UsageError(`${parsed.reason}.`);
    }
    const messages = new Messages(printerFrom(values), values.count('count'));
    const subscription = subscriptionFrom(values);
    const client = await connectClient(values, sessionFrom(values), (made) => messages.of(made));
    tellInterruptions(client);
    try {
      for (const filter of filters) await subscribe(client, filter, subscription);
      await messages.enough;
    } finally {
      await client.endAsync();
    }
    return 0;
  },
};

async function subscribe(
  client: MqttClient,
  filter: string,
  options: IClientSubscribeOptions,
): Promise<void> {
  let codes: readonly number[];
  try {
    codes = (await client.subscribeAsync(filter, options)).map(({ qos }) => qos);
  } catch (error) {
    throw new CommandError(`The subscription to ${filter} was refused: ${reasonOf(error)}`, { cause: error });
  }
  if (codes.some((code) => code >= FAILURE))
    throw new CommandError(`The subscription to ${filter} was refused.`);
}

type Print = (topic: string, payload: Buffer, packet: IPublishPacket) => void;

/** Prints messages until `count` is reached. */
class Messages {
  readonly #print: Print;
  #left: number;
  #resolve: () => void = () => {};
  /** Resolves after `count` messages, or at a signal. */
  readonly enough: Promise<void>;

  constructor(print: Print, count = Number.POSITIVE_INFINITY) {
    this.#print = print;
    this.#left = count;
    this.enough = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    if (count === 0) this.#resolve();
    process.once('SIGINT', () => this.#end());
    process.once('SIGTERM', () => this.#end());
  }

  of(client: MqttClient): void {
    client.on('message', (topic, payload, packet) => {
      if (this.#left <= 0) return;
      this.#print(topic, payload, packet);
      this.#left -= 1;
      if (this.#left === 0) this.#resolve();
    });
  }

  #end(): void {
    this.#left = 0;
    this.#resolve();
  }
}

function tellInterruptions(client: MqttClient): void {
  client.on('offline', () => console.error('apus: the connection was lost; trying again.'));
  client.on('error', (error) => console.error(`apus: ${reasonOf(error)}`));
}

function printerFrom(values: Values): Print {
  if (values.isSet('json')) return (topic, payload, packet) => console.log(jsonOf(topic, payload, packet));
  const isVerbose = values.isSet('verbose');
  return (topic, payload) => {
    if (isVerbose) process.stdout.write(`${topic} `);
    // Written as bytes: a payload need not be text.
    process.stdout.write(payload);
    process.stdout.write('\n');
  };
}

function jsonOf(topic: string, payload: Buffer, { qos, retain, dup, properties }: IPublishPacket): string {
  const content = isUtf8(payload)
    ? { payload: payload.toString() }
    : { payloadBase64: payload.toString('base64') };
  const correlationData = properties?.correlationData?.toString('base64');
  const shown = properties && { ...properties, ...(correlationData !== undefined && { correlationData }) };
  return JSON.stringify({ topic, ...content, qos, retain, dup, ...(shown && { properties: shown }) });
}

function subscriptionFrom(values: Values): IClientSubscribeOptions {
  return {
    qos: qosFrom(values),
    nl: values.isSet('no-local'),
    rap: values.isSet('retain-as-published'),
    rh: Number(values.oneOf('retain-handling', ['0', '1', '2']) ?? '0'),
    ...startFrom(values),
  };
}

/** Where a reader of a stream begins, as user properties of SUBSCRIBE (docs/streams.md). */
function startFrom(values: Values): Pick<IClientSubscribeOptions, 'properties'> {
  const given = (['rewind', 'stream-offset', 'stream-position'] as const).filter((name) =>
    values.isSet(name),
  );
  const [first] = given;
  if (first === undefined) return {};
  if (given.includes('rewind') && given.includes('stream-offset'))
    throw new UsageError('--rewind and --stream-offset exclude each other.');
  if (versionFrom(values) !== 5) throw new UsageError(`--${first} needs MQTT 5, which has user properties.`);
  const userProperties = { ...rewindFrom(values), ...offsetFrom(values), ...positionsFrom(values) };
  return { properties: { userProperties } };
}

function offsetFrom(values: Values): Record<string, string> {
  const offset = values.text('stream-offset');
  if (offset === undefined) return {};
  const isTime = /^\d{1,17}$/.test(offset) || !Number.isNaN(Date.parse(offset));
  if (offset !== 'earliest' && offset !== 'latest' && !isTime)
    throw new UsageError(`--stream-offset takes earliest, latest or a time, not "${offset}".`);
  return { 'stream-offset': offset };
}

function positionsFrom(values: Values): Record<string, string[]> {
  const positions = values.all('stream-position');
  const wrong = positions.find((each) => !/^[0-9a-z]+-\d+(-\d+)?( .*)?$/s.test(each));
  if (wrong !== undefined)
    throw new UsageError(`--stream-position takes the stream-position of a message, not "${wrong}".`);
  return positions.length === 0 ? {} : { 'stream-position': [...positions] };
}

function rewindFrom(values: Values): Record<string, string> {
  const rewind = values.text('rewind');
  if (rewind === undefined) return {};
  if (!/^[1-9]\d{0,8}[smhd]?$/.test(rewind))
    throw new UsageError(
      `--rewind takes a number of messages, or a time as 10s, 5m, 2h or 1d, not "${rewind}".`,
    );
  return { rewind };
}

function sessionFrom(values: Values): IClientOptions {
  if (!values.isSet('keep')) return { clean: true };
  if (!values.isSet('client-id')) throw new UsageError('--keep needs the --client-id whose session is kept.');
  return { clean: false, properties: { sessionExpiryInterval: KEPT_SECONDS } };
}
