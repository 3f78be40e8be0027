import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { validateTopicName } from '@apus/mqtt';
import type { IClientPublishOptions, MqttClient } from 'mqtt';
import { CLIENT_FLAGS, qosFrom, reasonOf, versionFrom } from './client-flags.ts';
import { type Command, CommandError } from './command.ts';
import { connectClient } from './connect-client.ts';
import { type Flags, UsageError, type Values } from './flags.ts';

/** Most lines that are on their way at a time. */
const LINES_UNDER_WAY_MAX = 100;
const EXPIRY_SECONDS_MAX = 0xffff_ffff;

const MESSAGE: Flags = {
  topic: { value: 'TOPIC', short: 't', help: 'Topic name. Required.' },
  message: { value: 'TEXT', short: 'm', help: 'Payload; may be empty.' },
  file: { value: 'FILE', short: 'f', help: 'Reads the payload from a file; - is the whole standard input.' },
  'stdin-lines': { short: 'l', help: 'Publishes each line of standard input as a message.' },
  qos: { value: '0|1|2', short: 'q', help: 'Quality of service.', default: '0' },
  retain: {
    short: 'r',
    help: 'Retains the message for later subscribers; an empty payload deletes the retained message.',
  },
};

const PROPERTIES: Flags = {
  'content-type': { value: 'TYPE', help: 'Content Type.' },
  'response-topic': { value: 'TOPIC', help: 'Response Topic.' },
  'correlation-data': { value: 'TEXT', help: 'Correlation Data.' },
  'message-expiry': { value: 'SECONDS', help: 'Message Expiry Interval.' },
  'payload-utf8': { help: 'Payload Format Indicator: the payload is UTF-8 text.' },
  'user-property': { value: 'NAME=VALUE', multiple: true, help: 'User Property.' },
};

export const pub: Command = {
  name: 'pub',
  summary: 'Publishes messages.',
  usage: '-t TOPIC (-m TEXT | -f FILE | -l) [FLAGS]',
  description: "Example: apus pub -t hello/world -m 'Hello, Apus' -q 1",
  flags: { Message: MESSAGE, 'Properties of MQTT 5': PROPERTIES, Connection: CLIENT_FLAGS },
  async run(values) {
    const topic = values.text('topic');
    if (topic === undefined) throw new UsageError('`apus pub` needs a topic: -t TOPIC.');
    const invalid = validateTopicName(topic);
    if (invalid !== undefined) throw new UsageError(`${invalid.reason}.`);
    const options = publishOptionsFrom(values);
    const payload = payloadFrom(values);
    const client = await connectClient(values);
    try {
      if (payload === undefined) await publishLines(client, topic, options);
      else await publish(client, topic, payload, options);
    } finally {
      await client.endAsync();
    }
    return 0;
  },
};

/** Undefined: the lines of standard input. */
function payloadFrom(values: Values): string | Buffer | undefined {
  const given = ['message', 'file', 'stdin-lines'].filter((name) => values.isSet(name));
  // An empty message is valid.
  if (given.length !== 1 || values.positionals.length > 0) {
    throw new UsageError('`apus pub` takes one of -m TEXT, -f FILE and --stdin-lines.');
  }
  const file = values.text('file');
  if (file === undefined) return values.text('message');
  try {
    return readFileSync(file === '-' ? 0 : file);
  } catch (error) {
    throw new CommandError(`The payload cannot be read: ${reasonOf(error)}`, { cause: error });
  }
}

async function publishLines(
  client: MqttClient,
  topic: string,
  options: IClientPublishOptions,
): Promise<void> {
  let underWay: Promise<void>[] = [];
  for await (const line of createInterface({ input: process.stdin })) {
    underWay.push(publish(client, topic, line, options));
    if (underWay.length < LINES_UNDER_WAY_MAX) continue;
    await Promise.all(underWay);
    underWay = [];
  }
  await Promise.all(underWay);
}

async function publish(
  client: MqttClient,
  topic: string,
  payload: string | Buffer,
  options: IClientPublishOptions,
): Promise<void> {
  try {
    await client.publishAsync(topic, payload, options);
  } catch (error) {
    throw new CommandError(`The message to ${topic} was not taken: ${reasonOf(error)}`, { cause: error });
  }
}

function publishOptionsFrom(values: Values): IClientPublishOptions {
  const properties = propertiesFrom(values);
  const hasProperties = Object.keys(properties).length > 0;
  if (hasProperties && versionFrom(values) !== 5) {
    throw new UsageError('Only MQTT 5 has properties: leave them out, or --mqtt-version.');
  }
  return { qos: qosFrom(values), retain: values.isSet('retain'), ...(hasProperties && { properties }) };
}

function propertiesFrom(values: Values): NonNullable<IClientPublishOptions['properties']> {
  const contentType = values.text('content-type');
  const responseTopic = values.text('response-topic');
  const correlationData = values.text('correlation-data');
  const messageExpiryInterval = values.count('message-expiry', EXPIRY_SECONDS_MAX);
  const userProperties = userPropertiesFrom(values.all('user-property'));
  return {
    ...(contentType !== undefined && { contentType }),
    ...(responseTopic !== undefined && { responseTopic }),
    ...(correlationData !== undefined && { correlationData: Buffer.from(correlationData) }),
    ...(messageExpiryInterval !== undefined && { messageExpiryInterval }),
    ...(values.isSet('payload-utf8') && { payloadFormatIndicator: true }),
    ...(Object.keys(userProperties).length > 0 && { userProperties }),
  };
}

function userPropertiesFrom(pairs: readonly string[]): Record<string, string[]> {
  const properties: Record<string, string[]> = {};
  for (const pair of pairs) {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
    if (name === undefined || value === undefined) {
      throw new UsageError(`--user-property takes NAME=VALUE, not "${pair}".`);
    }
    properties[name] = [...(properties[name] ?? []), value];
  }
  return properties;
}
