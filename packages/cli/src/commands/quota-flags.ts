import { type GivenQuotaScopes, NODE_QUOTAS, type Quotas } from '@apus/broker';
import type { Flag, Flags, Values } from './flags.ts';

/** Quotas of a node, which pays for no write and no message; a filter counts as a packet. */
type NodeQuotaName = Exclude<keyof Quotas, 'writesPerMinuteMax' | 'messagesPerMinuteMax'>;

/** Each quota with its unit. A quota of the node door without a row here does not compile. */
const TEXTS: { readonly [K in NodeQuotaName]: readonly [value: string, help: string] } = {
  packetsPerSecondMax: ['COUNT', 'MQTT packets a second; each filter of a SUBSCRIBE counts.'],
  framesPerSecondMax: ['COUNT', 'Frames a second at the gateway door.'],
  publishesPerSecondMax: ['COUNT', 'PUBLISH packets a second.'],
  bytesPerSecondMax: ['BYTES', 'Bytes a second from clients.'],
  deliveriesPerMinuteMax: ['COUNT', 'Copies of messages a minute that publishes cause.'],
  connectionsMax: ['COUNT', 'Connections at a time. Beyond it: closed with 1013, without CONNACK.'],
  sessionsMax: ['COUNT', 'Sessions, connected or not. Beyond it: closed with 1013, without CONNACK.'],
  subscriptionsMax: [
    'COUNT',
    'Subscriptions of all its sessions; one counts for each 16 levels, or 1,024 characters, that it begins. Beyond it: 0x97.',
  ],
  retainedMessagesMax: ['COUNT', 'Retained messages that it published last. Beyond it: 0x97.'],
  retainedBytesMax: [
    'BYTES',
    'The same in bytes of topics, payloads and properties, and 256 for each. Beyond it: 0x97.',
  ],
  queuedBytesMax: [
    'BYTES',
    'Messages in the queues of its sessions and inflight; one of several queues counts once. At most half of --tenant-queue-bytes-max. Beyond it they are dropped.',
  ],
  delayedMessagesMax: ['COUNT', 'Messages of $delayed/… that wait. Beyond it: 0x97.'],
  delayedBytesMax: ['BYTES', 'The same in bytes, and 256 for each. Beyond it: 0x97.'],
};

const SCOPES = {
  identity: 'Of each identity',
  tenant: 'Of each tenant',
  broker: 'Of all together',
} as const;

type Scope = keyof typeof SCOPES;

const NAMES = Object.keys(TEXTS) as NodeQuotaName[];

/** Limits bound the total over all clients: `--connections-max`, `--sessions-max`, `--memory-bytes-max`. */
const PRESETS: { readonly [S in Scope]: Partial<Quotas> } = NODE_QUOTAS;

const FLAGS: readonly (readonly [scope: Scope, name: NodeQuotaName])[] = (
  Object.keys(SCOPES) as Scope[]
).flatMap((scope) =>
  NAMES.filter((name) => PRESETS[scope][name] !== undefined).map((name) => [scope, name] as const),
);

export const QUOTA_FLAGS: Flags = Object.fromEntries(
  FLAGS.map(([scope, name]): [string, Flag] => {
    const [value, help] = TEXTS[name];
    const preset = PRESETS[scope][name] ?? 0;
    return [flagOf(scope, name), { value, help: `${SCOPES[scope]}: ${help}`, default: preset }];
  }),
);

/** The quotas that were given as flags. */
export function quotasFrom(values: Values): GivenQuotaScopes {
  const quotas: Record<Scope, Record<string, number>> = { identity: {}, tenant: {}, broker: {} };
  for (const [scope, name] of FLAGS) {
    const given = values.count(flagOf(scope, name));
    if (given !== undefined) quotas[scope][name] = given;
  }
  return quotas;
}

/** `bytesPerSecondMax` of an identity becomes `--identity-bytes-per-second-max`. */
function flagOf(scope: Scope, name: NodeQuotaName): string {
  return `${scope}-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
