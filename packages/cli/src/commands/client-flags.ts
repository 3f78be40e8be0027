import { connect, type IClientOptions, type MqttClient } from 'mqtt';
import { shownUrl } from '../shown-url.ts';
import { type Command, CommandError } from './command.ts';
import { explainingWebSocket } from './explaining-web-socket.ts';
import { type Flags, UsageError, type Values } from './flags.ts';

const URL_DEFAULT = 'ws://127.0.0.1:8083/mqtt';
const VERSIONS = { '5': 5, '3.1.1': 4, '3.1': 3 } as const;

/** Flags of every command that is a client. */
export const CLIENT_FLAGS: Command['flags'][string] = {
  url: { value: 'URL', short: 'u', help: 'The broker.', default: URL_DEFAULT },
  'client-id': { value: 'ID', short: 'i', help: 'Client identifier.', default: 'a random one' },
  username: { value: 'NAME', help: 'User name.' },
  password: {
    value: 'PASSWORD',
    help: 'Password. It is safer in the environment variable APUS_PASSWORD, as other users of the machine can see flags.',
  },
  'mqtt-version': {
    value: Object.keys(VERSIONS).reverse().join('|'),
    help: 'Version of MQTT.',
    default: '5',
  },
  'keep-alive': { value: 'SECONDS', help: 'Keep Alive.', default: '60' },
} satisfies Flags;

/**
 * A connected client; after this it reconnects by itself. `prepare` sees it before it is connected: the messages of
 * a kept session follow CONNACK at once.
 */
export async function connectClient(
  values: Values,
  more: IClientOptions = {},
  prepare: (client: MqttClient) => void = () => {},
): Promise<MqttClient> {
  const url = values.text('url') ?? URL_DEFAULT;
  if (!URL.canParse(url)) throw new UsageError(`--url takes a URL as ${URL_DEFAULT}, not "${url}".`);
  let refusal: string | undefined;
  const createWebsocket = explainingWebSocket((reason) => {
    refusal = reason;
  });
  const client = connect(url, { ...optionsFrom(values), ...more, createWebsocket });
  prepare(client);
  try {
    await connected(client);
    return client;
  } catch (error) {
    client.end(true);
    throw new CommandError(`Cannot connect to ${shownUrl(url)}: ${refusal ?? reasonOf(error)}`, {
      cause: error,
    });
  }
}

export function qosFrom(values: Values): 0 | 1 | 2 {
  return Number(values.oneOf('qos', ['0', '1', '2']) ?? '0') as 0 | 1 | 2;
}

export function versionFrom(values: Values): 3 | 4 | 5 {
  const versions = Object.keys(VERSIONS) as (keyof typeof VERSIONS)[];
  return VERSIONS[values.oneOf('mqtt-version', versions) ?? '5'];
}

function optionsFrom(values: Values): IClientOptions {
  const protocolVersion = versionFrom(values);
  const clientId = values.text('client-id');
  const username = values.text('username');
  const password = values.text('password') ?? process.env.APUS_PASSWORD;
  return {
    protocolVersion,
    protocolId: protocolVersion === 3 ? 'MQIsdp' : 'MQTT',
    keepalive: values.count('keep-alive', 65_535) ?? 60,
    ...(clientId !== undefined && { clientId }),
    ...(username !== undefined && { username }),
    ...(username !== undefined && password !== undefined && { password }),
  };
}

function connected(client: MqttClient): Promise<void> {
  return new Promise((resolve, reject) => {
    client.once('connect', () => resolve());
    client.once('error', reject);
    // Without an error it was the other side that closed.
    client.once('close', () => reject(new Error('the connection was closed before CONNACK')));
  });
}

/** One sentence: a system error has its code, and several addresses tried in vain have one each. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
