import type { IClientOptions } from 'mqtt';
import type { Command } from './command.ts';
import type { Flags, Values } from './flags.ts';

export const URL_DEFAULT = 'ws://127.0.0.1:8083/mqtt';
const VERSIONS = { '5': 5, '3.1.1': 4, '3.1': 3 } as const;

/** Flags of every command that is a client. */
export const CLIENT_FLAGS: Command['flags'][string] = {
  url: {
    value: 'URL',
    short: 'u',
    help: 'The broker: a node, or a deployment (wss://…).',
    default: URL_DEFAULT,
  },
  'client-id': { value: 'ID', short: 'i', help: 'Client identifier.', default: 'a random one' },
  username: { value: 'NAME', help: 'User name.' },
  password: {
    value: 'PASSWORD',
    help: 'Password. It is safer in the environment variable APUS_PASSWORD, as other users of the machine can see flags.',
  },
  token: {
    value: 'TOKEN',
    help: 'Token for a deployment, or another gateway door. It is safer in the environment variable APUS_TOKEN.',
  },
  'mqtt-version': {
    value: Object.keys(VERSIONS).reverse().join('|'),
    help: 'Version of MQTT.',
    default: '5',
  },
  'keep-alive': { value: 'SECONDS', help: 'Keep Alive.', default: '60' },
} satisfies Flags;

export function qosFrom(values: Values): 0 | 1 | 2 {
  return Number(values.oneOf('qos', ['0', '1', '2']) ?? '0') as 0 | 1 | 2;
}

export function versionFrom(values: Values): 3 | 4 | 5 {
  const versions = Object.keys(VERSIONS) as (keyof typeof VERSIONS)[];
  return VERSIONS[values.oneOf('mqtt-version', versions) ?? '5'];
}

export function optionsFrom(values: Values): IClientOptions {
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

/** One sentence. A system error has a code; an error for several addresses has one for each. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
