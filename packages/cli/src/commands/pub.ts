import { readFileSync } from 'node:fs';
import { toRemote } from '@apus/bridges/mqtt-properties';
import {
  PACKET_SIZE_MAX,
  type PublishPacket,
  type PublishProperties,
  publishLength,
  RECEIVE_MAXIMUM_DEFAULT,
  validateTopicName,
} from '@apus/mqtt';
import type { MqttClient } from 'mqtt';
import {
  CLIENT_FLAGS,
  QOS_FLAG,
  qosFrom,
  reasonOf,
  refuseBelowFive,
  versionFrom,
  WILL_FLAGS,
} from './client-flags.ts';
import { type Command, CommandError } from './command.ts';
import { type Flags, UsageError, type Values } from './flags.ts';
import { linesOf } from './lines.ts';
import { MOSQUITTO_PUB } from './mosquitto-flags.ts';
import { withClient } from './with-client.ts';

/** Most lines that are on their way at a time, and bytes of them. */
const LINES_UNDER_WAY_MAX = 100;
const LINE_BYTES_UNDER_WAY_MAX = 1024 * 1024;
const EXPIRY_SECONDS_MAX = 0xffff_ffff;

const MESSAGE: Flags = {
  topic: { value: 'TOPIC', short: 't', help: 'Topic name. Required.' },
  message: { value: 'TEXT', short: 'm', help: 'Payload; may be empty.', mayBeEmpty: true },
  file: { value: 'FILE', short: 'f', help: 'Reads the payload from a file; - is the whole standard input.' },
  'stdin-lines': {
    short: 'l',
    help: 'Publishes each line of standard input as a message: its bytes, without LF or CRLF.',
  },
  qos: { ...QOS_FLAG, short: 'q' },
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
  description: [
    "Example: apus pub -t hello/world -m 'Hello, Apus' -q 1",
    '',
    'The exit status is 1 if the broker does not take a message. A broker that refuses the topic says so at QoS 1 and 2 of',
    'MQTT 5 alone. Most flags of mosquitto_pub may be given.',
  ].join('\n'),
  flags: {
    Message: MESSAGE,
    'Properties of MQTT 5': PROPERTIES,
    Connection: CLIENT_FLAGS,
    Will: WILL_FLAGS,
  },
  spellings: MOSQUITTO_PUB,
  async run(values) {
    values.refusePositionals('pub');
    const message = messageFrom(values);
    const payload = payloadFrom(values);
    const run = async (client: MqttClient): Promise<void> => {
      const publisher = new Publisher(client, message, versionFrom(values));
      if (payload === undefined) await publisher.publishLines();
      else await publisher.publish(payload);
      if (message.qos === 0) await handled(client);
    };
    try {
      await withClient(values, { mayReconnect: false, run });
    } finally {
      // It would keep the process from ending.
      if (payload === undefined) process.stdin.destroy();
    }
    return 0;
  },
};

/** Undefined: the lines of standard input. */
function payloadFrom(values: Values): Buffer | undefined {
  const given = ['message', 'file', 'stdin-lines'].filter((name) => values.isSet(name));
  // An empty message is valid.
  if (given.length !== 1) throw new UsageError('`apus pub` takes one of -m TEXT, -f FILE and --stdin-lines.');
  const [file, text] = [values.text('file'), values.text('message')];
  if (file === undefined) return text === undefined ? undefined : Buffer.from(text);
  try {
    return readFileSync(file === '-' ? 0 : file);
  } catch (error) {
    throw new CommandError(`The payload cannot be read: ${reasonOf(error)}`, { cause: error });
  }
}

/** Publishes messages that differ in their payload alone. */
class Publisher {
  readonly #client: MqttClient;
  readonly #message: Omit<PublishPacket, 'payload'>;
  readonly #version: 3 | 4 | 5;

  constructor(client: MqttClient, message: Omit<PublishPacket, 'payload'>, version: 3 | 4 | 5) {
    this.#client = client;
    this.#message = message;
    this.#version = version;
  }

  async publishLines(): Promise<void> {
    const { receiveMaximum = RECEIVE_MAXIMUM_DEFAULT } = this.#client.serverProperties ?? {};
    const linesMax = Math.min(LINES_UNDER_WAY_MAX, receiveMaximum);
    let underWay: Promise<void>[] = [];
    let bytes = 0;
    for await (const line of linesOf(process.stdin)) {
      const publishing = this.publish(line);
      // The next line may be long in coming.
      publishing.catch((error: Error) => process.stdin.destroy(error));
      underWay.push(publishing);
      bytes += line.length;
      if (underWay.length < linesMax && bytes < LINE_BYTES_UNDER_WAY_MAX) continue;
      await Promise.all(underWay);
      underWay = [];
      bytes = 0;
    }
    await Promise.all(underWay);
  }

  /** Resolves when the broker has taken the message; at QoS 0, when it is written. */
  async publish(payload: Buffer): Promise<void> {
    const { topic, qos, retain, properties } = this.#message;
    const refusal = this.#refusalOf(payload);
    if (refusal !== undefined) throw new CommandError(`The message to ${topic} was not sent: ${refusal}.`);
    const options = {
      ...{ qos, retain },
      ...(this.#version === 5 && { properties: toRemote(properties, properties.messageExpiryInterval) }),
    };
    await new Promise<void>((resolve, reject) => {
      this.#client.publish(topic, payload, options, (error, packet) => {
        if (error === undefined || error === null) resolve();
        else reject(new CommandError(`The message to ${topic} was not taken: ${reasonOf(error, packet)}`));
      });
    });
  }

  /** The broker would end the connection. */
  #refusalOf(payload: Buffer): string | undefined {
    const { maximumPacketSize = PACKET_SIZE_MAX } = this.#client.serverProperties ?? {};
    try {
      const size = publishLength({ ...this.#message, payload }, this.#version);
      return size > maximumPacketSize
        ? `its packet has ${size} bytes, and the broker takes ${maximumPacketSize}`
        : undefined;
    } catch (error) {
      return reasonOf(error);
    }
  }
}

/** At QoS 0 a PUBLISH has no answer. A broker handles packets in order: when it answers a ping, it has handled all. */
async function handled(client: MqttClient): Promise<void> {
  await new Promise<void>((resolve) => {
    client.on('packetreceive', ({ cmd }) => cmd === 'pingresp' && resolve());
    client.sendPing();
  });
}

/** @throws {UsageError} */
function messageFrom(values: Values): Omit<PublishPacket, 'payload'> {
  const topic = values.text('topic');
  if (topic === undefined) throw new UsageError('`apus pub` needs a topic: -t TOPIC.');
  const invalid = validateTopicName(topic);
  if (invalid !== undefined) throw new UsageError(`${invalid.reason}.`);
  refuseBelowFive(values, PROPERTIES);
  const [qos, retain, properties] = [qosFrom(values), values.isSet('retain'), propertiesFrom(values)];
  return { type: 'publish', topic, qos, retain, dup: false, packetId: 1, properties };
}

function propertiesFrom(values: Values): PublishProperties {
  const contentType = values.text('content-type');
  const responseTopic = values.text('response-topic');
  const correlationData = values.text('correlation-data');
  const messageExpiryInterval = values.count('message-expiry', EXPIRY_SECONDS_MAX);
  const userProperties = values.all('user-property').map(userPropertyOf);
  return {
    ...(contentType !== undefined && { contentType }),
    ...(responseTopic !== undefined && { responseTopic }),
    ...(correlationData !== undefined && { correlationData: Buffer.from(correlationData) }),
    ...(messageExpiryInterval !== undefined && { messageExpiryInterval }),
    ...(values.isSet('payload-utf8') && { payloadFormatIndicator: 1 as const }),
    ...(userProperties.length > 0 && { userProperties }),
  };
}

function userPropertyOf(pair: string): readonly [name: string, value: string] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
  if (name === undefined || value === undefined)
    throw new UsageError(`--user-property takes NAME=VALUE, not "${pair}".`);
  return [name, value];
}
