import { isIPv6 } from 'node:net';
import { unescape as decoded } from 'node:querystring';
import { reasonOf as causeOf } from '@apus/broker';
import { STRING_BYTES_MAX, validateTopicName } from '@apus/mqtt';
import type { IClientOptions } from 'mqtt';
import { type Flags, UsageError, type Values } from './flags.ts';

export const URL_DEFAULT = 'ws://127.0.0.1:8083/mqtt';
const PROTOCOLS = ['ws:', 'wss:', 'mqtt:', 'mqtts:'];
/** The ports that MQTT over TCP and TLS have. */
const TCP_PORT = 1883;
const TLS_PORT = 8883;
const PORT_MAX = 65_535;
const KEEP_ALIVE_SECONDS_MAX = 65_535;

/** Also as mosquitto_pub writes them. */
const VERSIONS = {
  ...({ '5': 5, '3.1.1': 4, '3.1': 3 } as const),
  ...({ mqttv5: 5, mqttv311: 4, mqttv31: 3, '311': 4, '31': 3 } as const),
};

export const QOS_FLAG = { value: '0|1|2', help: 'Quality of service.', default: '0' };

/** Flags of every command that is a client. */
export const CLIENT_FLAGS: Flags = {
  url: {
    value: 'URL',
    short: 'u',
    help: 'The broker: a node (ws://…, mqtt://…), or a deployment (wss://…). Beside -h or -p, -u is the user name.',
    default: URL_DEFAULT,
  },
  host: {
    value: 'HOST',
    short: 'h',
    help: 'In place of the URL: ws://HOST:PORT/mqtt, mqtt://HOST with port 1883, and mqtts://HOST with port 8883.',
  },
  port: { value: 'PORT', short: 'p', help: 'The port of --host.', default: '8083' },
  'client-id': { value: 'ID', short: 'i', help: 'Client identifier.', default: 'a random one' },
  username: { value: 'NAME', help: 'User name.' },
  password: {
    value: 'PASSWORD',
    short: 'P',
    help: 'Password, with a user name. It is safer in the environment variable APUS_PASSWORD, as other users of the machine can see flags.',
  },
  token: {
    value: 'TOKEN',
    help: 'Token in the query of the handshake. It is safer in the environment variable APUS_TOKEN.',
  },
  'mqtt-version': { value: '3.1|3.1.1|5', short: 'V', help: 'Version of MQTT.', default: '5' },
  'keep-alive': { value: 'SECONDS', short: 'k', help: 'Keep Alive; 0 is none.', default: '60' },
};

export const WILL_FLAGS: Flags = {
  'will-topic': { value: 'TOPIC', help: 'The broker publishes a will here if it loses this client.' },
  'will-payload': { value: 'TEXT', help: 'Payload of the will.', default: 'empty', mayBeEmpty: true },
  'will-qos': QOS_FLAG,
  'will-retain': { help: 'Retains the will.' },
};

export function qosFrom(values: Values, flag = 'qos'): 0 | 1 | 2 {
  return Number(values.oneOf(flag, ['0', '1', '2']) ?? '0') as 0 | 1 | 2;
}

export function versionFrom(values: Values): 3 | 4 | 5 {
  const versions = Object.keys(VERSIONS) as (keyof typeof VERSIONS)[];
  return VERSIONS[values.oneOf('mqtt-version', versions) ?? '5'];
}

/** @throws {UsageError} for a flag that only MQTT 5 has a field for, in another version */
export function refuseBelowFive(values: Values, flags: Flags): void {
  if (versionFrom(values) !== 5) values.refuse(flags, 'needs MQTT 5.');
}

/** @throws {UsageError} */
export function urlFrom(values: Values): string {
  const host = values.text('host');
  const port = values.count('port', PORT_MAX, 1);
  const url = values.text('url');
  if (host === undefined && port === undefined) return checkedUrl(url ?? URL_DEFAULT);
  if (url !== undefined)
    throw new UsageError(
      '--url says the host and the port: it goes without --host and --port. (A user name is --username.)',
    );
  if (host !== undefined && !isIPv6(host) && /[^\p{L}\p{N}._-]/u.test(host))
    throw new UsageError(`--host takes the name or the address of a host, not "${host}". A URL is --url.`);
  const name = host === undefined ? '127.0.0.1' : isIPv6(host) ? `[${host}]` : host;
  if (port === TCP_PORT) return `mqtt://${name}:${port}`;
  return port === TLS_PORT ? `mqtts://${name}:${port}` : `ws://${name}:${port ?? 8083}/mqtt`;
}

function checkedUrl(url: string): string {
  if (URL.canParse(url) && PROTOCOLS.includes(new URL(url).protocol)) return url;
  throw new UsageError(`--url takes a URL as ${URL_DEFAULT}, not "${url}". (A user name is --username.)`);
}

/** mqtt.js does not check it, and fails. @throws {UsageError} for a text that no string of MQTT holds */
export function fitting(flag: string, text: string): string {
  const bytes = Buffer.byteLength(text);
  if (bytes <= STRING_BYTES_MAX) return text;
  throw new UsageError(`--${flag} takes at most ${STRING_BYTES_MAX} bytes, not ${bytes}.`);
}

/** @throws {UsageError} */
export function optionsFrom(values: Values): IClientOptions {
  const protocolVersion = versionFrom(values);
  const clientId = values.text('client-id');
  return {
    protocolVersion,
    protocolId: protocolVersion === 3 ? 'MQIsdp' : 'MQTT',
    keepalive: values.count('keep-alive', KEEP_ALIVE_SECONDS_MAX) ?? 60,
    ...(clientId !== undefined && { clientId: fitting('client-id', clientId) }),
    ...credentialsFrom(values),
    ...willFrom(values),
  };
}

function credentialsFrom(values: Values): Pick<IClientOptions, 'auth' | 'username' | 'password'> {
  const ofUrl = new URL(urlFrom(values));
  const username = fitting('username', values.text('username') ?? decoded(ofUrl.username));
  const password = values.text('password') ?? (decoded(ofUrl.password) || process.env.APUS_PASSWORD || '');
  fitting('password', password);
  // mqtt.js writes no CONNECT with a password alone, which MQTT 5 would allow.
  if (username === '' && password !== '')
    throw new UsageError('A password (--password, or APUS_PASSWORD) needs a user name: --username NAME.');
  // mqtt.js would prefer the credentials of the URL to the flags.
  return { auth: '', ...(username !== '' && { username }), ...(password !== '' && { password }) };
}

function willFrom(values: Values): Pick<IClientOptions, 'will'> {
  const topic = values.text('will-topic');
  if (topic === undefined) values.refuse(WILL_FLAGS, 'goes with --will-topic.');
  if (topic === undefined) return {};
  const invalid = validateTopicName(topic);
  if (invalid !== undefined) throw new UsageError(`--will-topic: ${invalid.reason}.`);
  const payload = Buffer.from(fitting('will-payload', values.text('will-payload') ?? ''));
  return { will: { topic, payload, qos: qosFrom(values, 'will-qos'), retain: values.isSet('will-retain') } };
}

/** One sentence, with what lies behind the error. `answer` is the packet that refuses, which may have a Reason String. */
export function reasonOf(error: unknown, answer?: object): string {
  const { reasonString } = (answer as Packet | undefined)?.properties ?? {};
  const text = causeOf(error);
  return reasonString === undefined ? text : `${text}: ${reasonString}`;
}

interface Packet {
  readonly properties?: { readonly reasonString?: string };
}
