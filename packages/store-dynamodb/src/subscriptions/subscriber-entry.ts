import {
  type Attachment,
  type ConnectionId,
  LiveReader,
  PACKET_SIZE_UNLIMITED,
  readsOnOf,
  type SessionRef,
  type Subscription,
} from '@apus/broker';
import type { PacketId, ProtocolVersion, QoS } from '@apus/mqtt';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { type Item, text } from '../table/values.ts';

/**
 * A subscriber in a head, a shard or a group, as short as possible: eight of them share a write unit, and twelve two.
 * A session that keeps nothing ends with its connection and its attachment never changes, so the entry has the
 * attachment, and a delivery reads nothing more. For any other session the entry refers to it.
 */
export interface SubscriberEntry {
  readonly clientId: string;
  readonly incarnation: string;
  readonly qos: QoS;
  readonly noLocal: boolean;
  readonly retainAsPublished: boolean;
  readonly subscriptionIdentifier: PacketId | undefined;
  readonly attachment: Attachment | undefined;
  /** The subscription reads a stream, on this connection only. */
  readonly readsOn: ConnectionId | undefined;
  /** When the connection ends at the latest. */
  readonly endsAtSeconds: number | undefined;
}

/** The prefix of attributes that are entries; the incarnation follows. */
export const ENTRY = '@';

const NO_LOCAL = 4;
const RETAIN_AS_PUBLISHED = 8;
const READS = 16;

type Packed = [
  clientId: string,
  flags: number,
  subscriptionIdentifier: number,
  endsAtSeconds?: number,
  connectionId?: string,
  protocolVersion?: ProtocolVersion,
  receiveMaximum?: number,
  /** 0: unlimited. */
  maximumPacketSize?: number,
  /** Seconds from the expiry of the identity to `endsAtSeconds`: a shorter number than either. */
  expiresBeforeSeconds?: number | null,
  holder?: string,
];

export function packEntry(
  { clientId, attachment }: SessionRef,
  subscription: Subscription,
  endsAtSeconds: number | undefined,
): string {
  const { qos, noLocal, retainAsPublished, subscriptionIdentifier = 0, reader } = subscription;
  const choices = (noLocal ? NO_LOCAL : 0) + (retainAsPublished ? RETAIN_AS_PUBLISHED : 0);
  const flags = qos + choices + (reader === undefined ? 0 : READS);
  const packed: Packed = [clientId, flags, subscriptionIdentifier];
  if (attachment?.keepsNothing === true) {
    const { connectionId, protocolVersion, receiveMaximum, maximumPacketSize, holder } = attachment;
    const packetSize = maximumPacketSize === PACKET_SIZE_UNLIMITED ? 0 : maximumPacketSize;
    packed.push(endsAtSeconds ?? 0, connectionId, protocolVersion, receiveMaximum, packetSize);
    const expiresBefore = expiresBeforeSeconds(attachment, endsAtSeconds ?? 0);
    if (expiresBefore !== undefined || holder !== undefined) packed.push(expiresBefore ?? null);
    if (holder !== undefined) packed.push(holder);
  } else if (reader !== undefined && attachment !== undefined) packed.push(0, connectionFor(attachment));
  return JSON.stringify(packed);
}

export function unpackEntry(incarnation: string, json: string): SubscriberEntry {
  const [
    clientId,
    flags,
    identifier,
    endsAt,
    connectionId,
    protocolVersion,
    receiveMaximum,
    packetSize,
    expiresBefore,
    holder,
  ] = JSON.parse(json) as Packed;
  return {
    clientId,
    incarnation,
    readsOn: (flags & READS) === 0 ? undefined : connectionId,
    qos: (flags & 3) as QoS,
    noLocal: (flags & NO_LOCAL) !== 0,
    retainAsPublished: (flags & RETAIN_AS_PUBLISHED) !== 0,
    subscriptionIdentifier: identifier === 0 ? undefined : identifier,
    attachment:
      connectionId === undefined || protocolVersion === undefined
        ? undefined
        : {
            connectionId,
            protocolVersion,
            receiveMaximum: receiveMaximum ?? 1,
            maximumPacketSize: packetSize === 0 ? PACKET_SIZE_UNLIMITED : (packetSize ?? 0),
            keepsNothing: true,
            ...(typeof expiresBefore === 'number' && {
              expiresAtMs: ((endsAt ?? 0) - expiresBefore) * 1_000,
            }),
            ...(holder !== undefined && { holder }),
          },
    endsAtSeconds: endsAt === undefined || endsAt === 0 ? undefined : endsAt,
  };
}

export function readerOf({ readsOn }: SubscriberEntry): LiveReader | undefined {
  return readsOn === undefined ? undefined : new LiveReader(readsOn);
}

/** The connection that an entry of this attachment carries, if it carries one. */
export function connectionFor(attachment: Attachment): ConnectionId {
  return attachment.keepsNothing ? attachment.connectionId : readsOnOf(attachment);
}

/**
 * Each entry that carries a connection contains this text. Of the others only those whose client identifier ends with a
 * comma contain it.
 */
export const CARRIES_ANY = text(',"');

/** The part of an entry's text that says which connection it carries. */
export function carried(connectionId: ConnectionId): AttributeValue {
  return text(JSON.stringify(connectionId));
}

/** Undefined: the connection ends before its identity expires, or the identity never does. */
function expiresBeforeSeconds({ expiresAtMs }: Attachment, endsAtSeconds: number): number | undefined {
  if (expiresAtMs === undefined) return undefined;
  const seconds = endsAtSeconds - Math.ceil(expiresAtMs / 1_000);
  return endsAtSeconds > 0 && seconds <= 0 ? undefined : seconds;
}

/** Incarnations in a head or a group whose connections cannot exist any more. */
export function endedEntriesOf(item: Item | undefined, nowSeconds: number): string[] {
  return Object.entries(item ?? {}).flatMap(([name, value]) => {
    if (!name.startsWith(ENTRY) || value.S === undefined) return [];
    const incarnation = name.slice(ENTRY.length);
    const { endsAtSeconds } = unpackEntry(incarnation, value.S);
    return endsAtSeconds !== undefined && endsAtSeconds <= nowSeconds ? [incarnation] : [];
  });
}

/** The entries of a head or a group, without those of ended connections. */
export function entriesOf(item: Item | undefined, nowSeconds: number): SubscriberEntry[] {
  const entries: SubscriberEntry[] = [];
  for (const [name, value] of Object.entries(item ?? {})) {
    if (!name.startsWith(ENTRY) || value.S === undefined) continue;
    const entry = unpackEntry(name.slice(ENTRY.length), value.S);
    if (entry.endsAtSeconds === undefined || entry.endsAtSeconds > nowSeconds) entries.push(entry);
  }
  return entries;
}
