import { type BrokerLimits, DEFAULT_LIMITS, LIMIT_RANGES, type LimitRange } from '@apus/broker';
import { DEFAULT_NODE_LIMITS, NODE_LIMIT_RANGES, type NodeLimits } from '@apus/node';
import type { Flag, Flags, Values } from './flags.ts';

type Limits = BrokerLimits & NodeLimits;

/** Each limit with its unit and the effect of exceeding it. A limit without a row here does not compile. */
const TEXTS: { readonly [K in keyof Limits]: readonly [value: string, help: string] } = {
  connectionsMax: ['COUNT', 'Connections at a time; each holds an open file. Beyond it: HTTP 503.'],
  pendingPerAddressMax: [
    'COUNT',
    'Connections of one address without an accepted CONNECT. Beyond it the oldest of them is cut. 0: half of what a door takes.',
  ],
  connectTimeoutSeconds: [
    'SECONDS',
    'Time from the WebSocket to a completed CONNECT; then it is closed with 1008.',
  ],
  handshakeTimeoutSeconds: ['SECONDS', 'Time for the HTTP handshake.'],
  handshakeBytesMax: ['BYTES', 'Size of the HTTP handshake. Beyond it: HTTP 431.'],
  webSocketMessageBytesMax: [
    'BYTES',
    'Size of one WebSocket message, which may hold many packets. Beyond it: close 1009.',
  ],
  connectBytesMax: ['BYTES', 'Data that one client may send before CONNACK. Beyond it: 0x95.'],
  inboundBufferBytesMax: [
    'BYTES',
    'Data from one client that the broker has not handled yet. Beyond it the client has to wait.',
  ],
  inboundTotalBytesMax: [
    'BYTES',
    'Unfinished packets of all clients together. Beyond it the broker disconnects the clients that hold the most for the longest (0x97).',
  ],
  outboundBufferBytesMax: [
    'BYTES',
    'Data sent to one client that it has not read. Beyond it the broker drops QoS 0, keeps QoS 1 and 2 in the queue, and reads no packets from the client.',
  ],
  outboundTotalBytesMax: [
    'BYTES',
    'Data sent to all clients together that they have not read. While it fills, each may leave less unread. Beyond it the broker cuts the clients that have left the most for the longest.',
  ],
  overdraftSecondsMax: [
    'SECONDS',
    'How long a client may send more than its quotas allow; it is slowed down at once, and then disconnected with 0x96. 0: for ever.',
  ],
  memoryBytesMax: [
    'BYTES',
    'Memory for the state of all clients: messages, subscriptions, sessions. Beyond it: 0x97. 0: half of the heap limit, or of the memory if that is less.',
  ],
  tenantQueueBytesMax: [
    'BYTES',
    'The part of --memory-bytes-max for waiting and unacknowledged messages of one tenant. Beyond it: 0x97. 0: half of it.',
  ],
  closeTimeoutSeconds: ['SECONDS', 'Time for a client to answer a WebSocket close before it is cut off.'],
  shutdownTimeoutSeconds: ['SECONDS', 'Time for all clients to go when the broker stops.'],
  maximumPacketSize: ['BYTES', 'Largest MQTT packet that is accepted. Beyond it: 0x95.'],
  willPayloadBytesMax: ['BYTES', 'Payload of a will. Beyond it: 0x95.'],
  receiveMaximum: [
    'COUNT',
    'QoS 1 and 2 messages that a client may have unacknowledged towards the broker. Beyond it: 0x93.',
  ],
  topicAliasMaximum: ['COUNT', 'Topic aliases that a client may set. Beyond it: 0x94.'],
  inflightMessagesMax: [
    'COUNT',
    "QoS 1 and 2 messages sent to a client and not acknowledged; the client's Receive Maximum lowers it.",
  ],
  queueLengthMax: ['COUNT', 'Messages that wait for one session.'],
  queueBytesMax: ['BYTES', 'The same in bytes of topic and payload.'],
  queueWhenFull: ['drop-oldest|drop-newest', 'Which message gives way in a full queue.'],
  subscriptionsPerSessionMax: [
    'COUNT',
    'Subscriptions of one session; one counts for each 16 levels, or 1,024 characters, that it begins. Beyond it: 0x97.',
  ],
  topicLevelsMax: ['COUNT', 'Levels of a topic name or filter. Beyond it: 0x90 or 0x8F.'],
  retainedMessagesMax: ['COUNT', 'Retained messages of one tenant. Beyond it: 0x97.'],
  retainedBytesMax: ['BYTES', 'The same in bytes of topics, payloads and properties, and 256 for each.'],
  presenceMembersMax: ['COUNT', 'Members of one room at a time. Beyond it: 0x97.'],
  presenceBytesMax: ['BYTES', 'Data of one member: payload and properties. Beyond it: 0x97.'],
  presenceRoomsPerSessionMax: ['COUNT', 'Rooms that one session is in. Beyond it: 0x97.'],
  presenceRoomsPerIdentityMax: ['COUNT', 'Rooms that all sessions of an identity are in. Beyond it: 0x97.'],
  presenceOwnersMax: ['COUNT', 'Connections that may make one member present. Beyond it: 0x97.'],
  sessionsMax: [
    'COUNT',
    'Sessions, connected or not. Beyond it a CONNECT that needs a new one is closed without CONNACK.',
  ],
  sessionExpirySecondsMax: ['SECONDS', 'Longest Session Expiry Interval; a longer one is shortened.'],
  serverKeepAliveSecondsMax: ['SECONDS', 'Longest Keep Alive; 0 leaves the choice to the clients.'],
  clientIdLengthMax: ['COUNT', 'Characters of a client identifier. Beyond it: 0x85.'],
};

const DEFAULTS: Limits = { ...DEFAULT_LIMITS, ...DEFAULT_NODE_LIMITS };
const NAMES = Object.keys(TEXTS) as (keyof Limits)[];

const RANGES: { readonly [K in keyof Limits]?: LimitRange } = { ...LIMIT_RANGES, ...NODE_LIMIT_RANGES };

export const LIMIT_FLAGS: Flags = Object.fromEntries(
  NAMES.map((name): [string, Flag] => {
    const [value, help] = TEXTS[name];
    return [flagOf(name), { value, help, default: DEFAULTS[name] }];
  }),
);

/** The limits that were given as flags. */
export function limitsFrom(values: Values): Partial<Limits> {
  const limits: Record<string, number | string> = {};
  for (const name of NAMES) {
    const given = name === 'queueWhenFull' ? whenFullFrom(values) : countFrom(values, name);
    if (given !== undefined) limits[name] = given;
  }
  return limits as Partial<Limits>;
}

function countFrom(values: Values, name: keyof Limits): number | undefined {
  const { least, most } = RANGES[name] ?? {};
  return values.count(flagOf(name), most, least);
}

function whenFullFrom(values: Values): string | undefined {
  return values.oneOf(flagOf('queueWhenFull'), ['drop-oldest', 'drop-newest']);
}

/** `maximumPacketSize` becomes `--maximum-packet-size`. */
function flagOf(name: keyof Limits): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
