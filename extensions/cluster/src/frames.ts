import { type DeliveryPayer, type Message, owned, type Peer } from '@apus/broker';
import type { ApiAnswer, ForwardedWire, PeerRequest, Portion, TenantFilter } from '@apus/node';
import type { QueuesScope } from '@apus/store-memory';
import { Packr } from 'msgpackr';

/**
 * Names a connection of a client that another process serves: unique at the process to which the client is connected.
 */
export type TunnelId = number;

/** A message for subscribers of another process. */
export interface PublishFrame {
  readonly type: 'publish';
  readonly tenant: string;
  readonly message: Message;
  /** For subscribers that are in no share group. */
  readonly isPlain: boolean;
  /** Share groups, as `GROUP/FILTER`, in which the other process has to choose a member. */
  readonly groups: readonly string[];
  readonly hops: number;
  /** The publisher is answered when subscribers have it: a process without room for it may give it back. */
  readonly mayWait: boolean;
  /** It was given back before, and its turn has come. */
  readonly isAgain: boolean;
  /** The publisher that is charged for the deliveries by the process that makes them. */
  readonly payer?: DeliveryPayer | undefined;
}

/** Changed memory of the sender's queues, by tenant and identity. */
export interface QueuesFrame {
  readonly type: 'queues';
  readonly queues: readonly ToldQueues[];
}

/** A tenant, or an identity by its `quotaHolderKey`. 0 bytes: too few to be counted. */
export type ToldQueues = readonly [scope: QueuesScope, name: string, bytes: number, isFull: boolean];

/** Messages for a dead process that it has not acknowledged, for the process that has its sessions. */
export interface HeirFrame {
  readonly type: 'heir';
  readonly process: string;
  readonly messages: readonly PublishFrame[];
  /** The sender has no more of them. */
  readonly isLast: boolean;
}

/** A message between processes. Frames arrive in the order in which they were sent. */
export type Frame =
  | PublishFrame
  | { readonly type: 'routes'; readonly set: readonly RouteState[]; readonly removed: readonly string[] }
  /** The sender has taken over the sessions of a dead process. */
  | { readonly type: 'dead'; readonly process: string }
  /** The answer, in portions. After the last one the sender knows which process has those sessions. */
  | HeirFrame
  /** A room has changed, and the receiver tells its watchers. */
  | { readonly type: 'room'; readonly tenant: string; readonly room: string }
  /** The list of bans in the engine has changed. */
  | { readonly type: 'bans' }
  /** The sender reports usage: the receiver has to save its own in the engine. */
  | { readonly type: 'usage' }
  /** The tenant's entry in the engine has changed. */
  | { readonly type: 'tenant'; readonly name: string }
  /** The tenant is being removed: its sessions end. */
  | { readonly type: 'clear'; readonly tenant: string }
  | QueuesFrame
  /** All rule queues of the sender that are full. */
  | { readonly type: 'full'; readonly filters: readonly TenantFilter[] }
  /** Gives a message back that had no room in a queue: it waits for its turn. */
  | { readonly type: 'later'; readonly messageId: string; readonly queue: TenantFilter }
  /** The queue has room: so much of what waits for it has to be sent again, oldest first. */
  | ({ readonly type: 'again'; readonly queue: TenantFilter } & Portion)
  /** How many messages wait at the sender; and how many it has given up since its last frame. */
  | { readonly type: 'waits'; readonly queue: TenantFilter; readonly left: number; readonly givenUp: number }
  /** A client of the sender finds no room in this quota: the receiver reserves no more of it than its clients hold. */
  | { readonly type: 'spare'; readonly count: string }
  /** The heir of a dead process had no room for a message for too long. */
  | { readonly type: 'refused'; readonly messageId: string }
  /** A question of the HTTP API, and its answer. Either may be lost without harm. */
  | { readonly type: 'ask'; readonly id: number; readonly request: PeerRequest }
  | { readonly type: 'answer'; readonly id: number; readonly answer: ApiAnswer }
  /** The process stops: its lease is over. */
  | { readonly type: 'leaving' }
  | { readonly type: 'open'; readonly id: TunnelId; readonly peer: Peer; readonly wire?: ForwardedWire }
  | { readonly type: 'up' | 'down'; readonly id: TunnelId; readonly bytes: Uint8Array }
  /** So many bytes have been read: `up` and `down` name the direction of the bytes. */
  | { readonly type: 'taken'; readonly of: 'up' | 'down'; readonly id: TunnelId; readonly bytes: number }
  | { readonly type: 'closed'; readonly by: 'client' | 'home'; readonly id: TunnelId };

/** A route and whether a member of its share group is connected. */
export type RouteState = readonly [route: string, isConnected: boolean];

type MessageFields = [
  string,
  string,
  Uint8Array,
  Message['qos'],
  boolean,
  Message['properties'],
  number | undefined,
  string | undefined,
];
type PayerFields = [holder: string | undefined, identityMs: number, tenantMs: number, paid: number];
type PublishFields = [
  'p',
  string,
  MessageFields,
  boolean,
  readonly string[],
  number,
  boolean,
  boolean,
  PayerFields | undefined,
];

type HeirFields = ['h', string, PublishFields[], boolean];

const packr = new Packr({ useRecords: false });

/** Encodes a frame once, for any number of processes. */
export function encodeFrame(frame: Frame): Buffer {
  if (frame.type === 'publish') return packr.pack(publishFields(frame));
  if (frame.type === 'heir')
    return packr.pack(['h', frame.process, frame.messages.map(publishFields), frame.isLast]);
  return packr.pack(frame);
}

export function decodeFrame(bytes: Buffer): Frame {
  const value = packr.unpack(bytes) as Frame | PublishFields | HeirFields;
  if (!Array.isArray(value)) return value as Frame;
  return value[0] === 'h' ? heirFrame(value) : publishFrame(value);
}

function heirFrame([, process, messages, isLast]: HeirFields): HeirFrame {
  return { type: 'heir', process, messages: messages.map(publishFrame), isLast };
}

function publishFields(frame: PublishFrame): PublishFields {
  const { tenant, message, isPlain, groups, hops, mayWait, isAgain, payer } = frame;
  const { id, topic, payload, qos, retain, properties, expiresAtMs, publisherKey } = message;
  const fields: MessageFields = [id, topic, payload, qos, retain, properties, expiresAtMs, publisherKey];
  const paying: PayerFields | undefined = payer && [
    payer.holder,
    payer.identityMs,
    payer.tenantMs,
    payer.paid,
  ];
  return ['p', tenant, fields, isPlain, groups, hops, mayWait, isAgain, paying];
}

function publishFrame(sent: PublishFields): PublishFrame {
  const [, tenant, fields, isPlain, groups, hops, mayWait, isAgain, paying] = sent;
  const [id, topic, payload, qos, retain, properties, expiresAtMs, publisherKey] = fields;
  const message = { id, topic, payload: owned(payload), qos, retain, properties, expiresAtMs, publisherKey };
  const payer = paying && { holder: paying[0], identityMs: paying[1], tenantMs: paying[2], paid: paying[3] };
  return { type: 'publish', tenant, message, isPlain, groups, hops, mayWait, isAgain, payer };
}
