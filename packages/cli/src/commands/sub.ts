import { isUtf8 } from 'node:buffer';
import { parseTopicFilter, RECEIVE_MAXIMUM_MAX, Violation } from '@apus/mqtt';
import type { IClientOptions, IClientSubscribeOptions, IPublishPacket, MqttClient } from 'mqtt';
import {
  CLIENT_FLAGS,
  fitting,
  QOS_FLAG,
  qosFrom,
  reasonOf,
  refuseBelowFive,
  WILL_FLAGS,
} from './client-flags.ts';
import { type Command, CommandError } from './command.ts';
import { type Flags, UsageError, type Values } from './flags.ts';
import { MOSQUITTO_SUB } from './mosquitto-flags.ts';
import { bytesToShow } from './print.ts';
import { Printer } from './printer.ts';
import { withClient } from './with-client.ts';

/** What MQTT 5 alone has a field or a user property for. */
const ONLY_FIVE: Flags = {
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
};

const SUBSCRIPTION: Flags = {
  topic: {
    value: 'FILTER',
    short: 't',
    multiple: true,
    help: 'Topic filter; may be given more than once. Required.',
  },
  qos: { ...QOS_FLAG, short: 'q' },
  ...ONLY_FIVE,
  keep: { help: 'Resumes the session of an earlier run, and keeps it after this one (needs --client-id).' },
};

const OUTPUT: Flags = {
  count: {
    value: 'N',
    short: 'c',
    help: 'Ends after this many messages; 0: once it has subscribed. Further messages of a session that is kept come to the next run.',
  },
  timeout: {
    value: 'SECONDS',
    short: 'W',
    help: 'Ends after this time. The exit status is 1 if --count messages have not come by then.',
  },
  verbose: { short: 'v', help: 'Puts the topic before each payload.' },
  'no-newline': { short: 'N', help: 'Puts no line break behind each payload.' },
  json: { help: 'Prints each message as one line of JSON.' },
};

/** In MQTT 5 a session outlives its connection only if the client asks for it: here for a day. */
const KEPT_SECONDS = 24 * 60 * 60;

/** The longest time of a timer of Node.js. */
const TIMEOUT_SECONDS_MAX = 2_147_483;

export const sub: Command = {
  name: 'sub',
  summary: 'Subscribes, and prints the messages.',
  usage: '-t FILTER [FLAGS]',
  description: [
    "Example: apus sub -t 'hello/#' -v",
    '',
    'A message is acknowledged when standard output has taken it. Most flags of mosquitto_sub may be given.',
  ].join('\n'),
  flags: { Subscription: SUBSCRIPTION, Output: OUTPUT, Connection: CLIENT_FLAGS, Will: WILL_FLAGS },
  spellings: MOSQUITTO_SUB,
  async run(values) {
    values.refusePositionals('sub');
    const filters = values.all('topic');
    if (filters.length === 0) throw new UsageError('`apus sub` needs a topic filter: -t FILTER.');
    for (const filter of filters) {
      const parsed = parseTopicFilter(filter);
      if (parsed instanceof Violation) throw new UsageError(`${parsed.reason}.`);
    }
    const count = values.count('count');
    const timeout = values.count('timeout', TIMEOUT_SECONDS_MAX, 1);
    const printer = new Printer(formatFrom(values), count);
    const subscription = subscriptionFrom(values);
    let release = (): void => {};
    await withClient(values, {
      options: sessionFrom(values, count),
      prepare(client) {
        printer.attach(client);
        // Before CONNACK a signal ends the process.
        client.once('packetreceive', () => {
          release = stopWhenAsked(printer, timeout);
        });
      },
      mayReconnect: true,
      async run(client) {
        await Promise.race([subscribeToAll(client, filters, subscription), printer.stopped]);
        await printer.done;
      },
    }).finally(() => release());
    if (timeout !== undefined && count !== undefined && printer.printed < count)
      throw new CommandError(`${printer.printed} messages of ${count} came within ${timeout} s.`);
    return 0;
  },
};

/** A second signal ends the process at once. */
function stopWhenAsked(printer: Printer, timeoutSeconds: number | undefined): () => void {
  const stop = (): void => printer.stop();
  const timer = timeoutSeconds === undefined ? undefined : setTimeout(stop, timeoutSeconds * 1_000);
  timer?.unref();
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.once(signal, stop);
  return () => {
    clearTimeout(timer);
    for (const signal of signals) process.off(signal, stop);
  };
}

async function subscribeToAll(
  client: MqttClient,
  filters: readonly string[],
  options: IClientSubscribeOptions,
): Promise<void> {
  for (const filter of filters) await subscribe(client, filter, options);
}

async function subscribe(
  client: MqttClient,
  filter: string,
  options: IClientSubscribeOptions,
): Promise<void> {
  try {
    await client.subscribeAsync(filter, options);
  } catch (error) {
    const { packet } = error as { readonly packet?: object };
    throw new CommandError(`The subscription to ${filter} was refused: ${reasonOf(error, packet)}`, {
      cause: error,
    });
  }
}

type Format = (packet: IPublishPacket) => Buffer;

function formatFrom(values: Values): Format {
  if (values.isSet('json')) return (packet) => bytesToShow(`${jsonOf(packet)}\n`);
  const end = Buffer.from(values.isSet('no-newline') ? '' : '\n');
  const isVerbose = values.isSet('verbose');
  // Written as bytes: a payload need not be text.
  return ({ topic, payload }) =>
    Buffer.concat([bytesToShow(isVerbose ? `${topic} ` : ''), bytesToShow(payload), end]);
}

function jsonOf({ topic, payload: bytes, qos, retain, dup, properties }: IPublishPacket): string {
  const payload = Buffer.from(bytes);
  const content = isUtf8(payload)
    ? { payload: payload.toString() }
    : { payloadBase64: payload.toString('base64') };
  const correlationData = properties?.correlationData?.toString('base64');
  const shown = properties && { ...properties, ...(correlationData !== undefined && { correlationData }) };
  return JSON.stringify({ topic, ...content, qos, retain, dup, ...(shown && { properties: shown }) });
}

function subscriptionFrom(values: Values): IClientSubscribeOptions {
  refuseBelowFive(values, ONLY_FIVE);
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
  if (values.isSet('rewind') && values.isSet('stream-offset'))
    throw new UsageError('--rewind and --stream-offset exclude each other.');
  const userProperties = { ...rewindFrom(values), ...offsetFrom(values), ...positionsFrom(values) };
  return Object.keys(userProperties).length === 0 ? {} : { properties: { userProperties } };
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
  return positions.length === 0
    ? {}
    : { 'stream-position': positions.map((each) => fitting('stream-position', each)) };
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

function sessionFrom(values: Values, count = RECEIVE_MAXIMUM_MAX): IClientOptions {
  const isKept = values.isSet('keep');
  if (isKept && !values.isSet('client-id'))
    throw new UsageError('--keep needs the --client-id whose session is kept.');
  // The broker sends few messages that would have to wait for the next run, or for another client of a share group.
  const receiveMaximum = Math.min(Math.max(count, 1), RECEIVE_MAXIMUM_MAX);
  return {
    clean: !isKept,
    // Without it mqtt.js gives up when a broker that restarts is busy.
    reconnectOnConnackError: true,
    properties: { receiveMaximum, ...(isKept && { sessionExpiryInterval: KEPT_SECONDS }) },
  };
}
