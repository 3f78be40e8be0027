import type {
  BindingRank,
  ConnectionId,
  Delivery,
  Identity,
  Message,
  MessageId,
  MessageOrigin,
  PresencePlace,
  QuotaHolder,
  ShareName,
  Subscription,
  WillDue,
} from '@apus/broker';
import { ENDED_READER } from '@apus/broker';
import type { PacketId, QoS, Will } from '@apus/mqtt';
import type { KnownOrigin, StreamIndex } from '@apus/store-memory';
import { Packr } from 'msgpackr';

/** A session as it is stored, without what the other keys hold. */
export interface StoredSession {
  readonly tenant: string;
  readonly clientId: string;
  readonly expirySeconds: number;
  readonly identity: Identity;
  readonly will: Will | undefined;
  /** Undefined: it has a connection. If it is found so at the start, a crash has cut the connection. */
  readonly detachedAtMs: number | undefined;
  /** The last connection, which has brought the will. */
  readonly connectionId: ConnectionId;
  readonly attachedAtMs: number | undefined;
  readonly willDue: WillDue | undefined;
  /** The id under which the will has been begun. */
  readonly willMessageId: MessageId | undefined;
  readonly bindingRank: BindingRank;
  /** See `SessionStore.noteReplays`. */
  readonly replays: readonly string[] | undefined;
}

/** An owed will: its connection is not the last of its session any more, or the session is gone. */
export interface StoredOwedWill {
  readonly tenant: string;
  readonly clientId: string;
  readonly connectionId: ConnectionId;
  readonly will: Will;
  readonly messageId: MessageId | undefined;
  readonly identity: Identity;
  /** When a start that found its connection cut publishes it. @default none has */
  readonly dueAtMs?: number | undefined;
}

/** A message that waits or is inflight. Its session is in the key. */
export interface StoredQueued {
  readonly delivery: Omit<Delivery, 'session' | 'dup'>;
  /** The message itself, or the number under which it is stored once for many sessions. */
  readonly message: Message | number;
  /** See `Place`. */
  readonly reservedId: PacketId;
}

/** Written when a message leaves the queue, and again at its PUBREC; the message itself is not written again. */
export interface StoredInflight {
  readonly packetId: PacketId;
  readonly isReleased: boolean;
}

export interface StoredReceipt {
  readonly messageId: string;
  readonly isDelivered: boolean;
}

/** A copy of a message that has left its queue while the fan-out may be repeated. */
export interface StoredCompletedCopy {
  readonly messageId: MessageId;
  readonly tenant: string;
  readonly share: ShareName | undefined;
  readonly copy: string;
}

export interface StoredRetained {
  readonly tenant: string;
  readonly message: Message;
  readonly holder: QuotaHolder | undefined;
}

/** A session that makes a member present. */
export interface StoredOwner {
  readonly clientId: string;
  readonly holder: QuotaHolder;
  /** The number of its records, 0 if it has none. Undefined: stored before it was. */
  readonly number?: number;
}

/** A member of a room. */
export interface StoredMember extends PresencePlace {
  readonly joinedAtMs: number;
  /** Its message. If it has left and watchers were not told, the message that they were sent last. */
  readonly message: Message;
  /** None: it has left. */
  readonly owners: readonly StoredOwner[];
}

/** A topic of a stream; its entries stand under keys of their own. */
export interface StoredStreamTopic {
  readonly tenant: string;
  readonly topic: string;
  readonly epoch: string;
  /** Number of the newest message when this was written. The message may have been deleted since. */
  readonly last: number;
  readonly completeSinceMs: number;
  readonly holder: string | undefined;
  readonly origins: readonly KnownOrigin[];
  /** Number of the oldest message of the history, and the highest id in it, when this was written. */
  readonly first: number | undefined;
  readonly highestId: string | undefined;
}

export interface StoredStreamEntry {
  readonly message: Message;
  readonly tsMs: number;
  readonly key: string | undefined;
  readonly origin?: MessageOrigin | undefined;
  readonly stable?: number | undefined;
}

/** How one kind of record becomes bytes and back. */
export interface Codec<T> {
  encode(record: T): Uint8Array;
  decode(bytes: Uint8Array): T;
}

/** Bytes come back as views of the record, and strings unchanged: no structure is shared between records. */
const packr = new Packr({ useRecords: false });

/** Larger records are read in their place. */
const COPIED_BYTES_MAX = 1024;
const copied = Buffer.alloc(COPIED_BYTES_MAX);
const copyingPackr = new Packr({ useRecords: false, copyBuffers: true });

/** A view that the decoder makes for each record takes longer than a copy of a small one. */
function unpack(bytes: Uint8Array): unknown {
  if (bytes.length > COPIED_BYTES_MAX)
    return packr.unpack(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  copied.set(bytes);
  return copyingPackr.unpack(copied, { end: bytes.length });
}

/** MessagePack of the fields in order. Names are not stored, so a new field is added at the end. */
function codecOf<T, F extends unknown[]>(
  toFields: (record: T) => F,
  fromFields: (...fields: F) => T,
): Codec<T> {
  return {
    encode: (record) => packr.pack(toFields(record)),
    decode: (bytes) => fromFields(...(unpack(bytes) as F)),
  };
}

/** An array whose places have types. */
function tuple<F extends unknown[]>(...fields: F): F {
  return fields;
}

type MessageFields = [
  string,
  string,
  Uint8Array,
  QoS,
  boolean,
  Message['properties'],
  number | undefined,
  string | undefined,
];

function messageFields(message: Message): MessageFields {
  const { id, topic, payload, qos, retain, properties, expiresAtMs, publisherKey } = message;
  return [id, topic, payload, qos, retain, properties, expiresAtMs, publisherKey];
}

function messageFrom(...fields: MessageFields): Message {
  const [id, topic, payload, qos, retain, properties, expiresAtMs, publisherKey] = fields;
  // A changed byte may make another type of it, which would end the process long after the start.
  const isMessage = typeof id === 'string' && typeof topic === 'string' && payload instanceof Uint8Array;
  if (!isMessage) throw new TypeError('it holds no message');
  return { id, topic, payload, qos, retain, properties, expiresAtMs, publisherKey };
}

export const messageCodec: Codec<Message> = codecOf(messageFields, messageFrom);

export const retainedCodec: Codec<StoredRetained> = codecOf(
  ({ tenant, message, holder }) => {
    const otherTenant = holder?.tenant === tenant ? undefined : holder?.tenant;
    return tuple(tenant, messageFields(message), holder?.kind, holder?.name, otherTenant);
  },
  (tenant, fields, kind, name, otherTenant) => ({
    tenant,
    message: messageFrom(...fields),
    holder: kind && name !== undefined ? { tenant: otherTenant ?? tenant, kind, name } : undefined,
  }),
);

export const sessionCodec: Codec<StoredSession> = codecOf(
  (session) =>
    tuple(
      session.tenant,
      session.clientId,
      session.expirySeconds,
      session.identity,
      session.will,
      session.detachedAtMs,
      session.connectionId,
      session.attachedAtMs,
      session.willDue,
      session.willMessageId,
      session.bindingRank,
      session.replays,
    ),
  (
    tenant,
    clientId,
    expirySeconds,
    identity,
    will,
    detachedAtMs,
    connectionId,
    attachedAtMs,
    willDue,
    willMessageId,
    bindingRank,
    replays,
  ) => ({
    tenant,
    clientId,
    expirySeconds,
    identity,
    will,
    detachedAtMs,
    connectionId,
    attachedAtMs,
    willDue,
    willMessageId,
    bindingRank,
    replays,
  }),
);

export const owedWillCodec: Codec<StoredOwedWill> = codecOf(
  ({ tenant, clientId, connectionId, will, messageId, identity, dueAtMs }) =>
    tuple(tenant, clientId, connectionId, will, messageId, identity, dueAtMs),
  (tenant, clientId, connectionId, will, messageId, identity, dueAtMs) => ({
    ...{ tenant, clientId, connectionId, will, messageId, identity, dueAtMs },
  }),
);

export const memberCodec: Codec<StoredMember> = codecOf(
  ({ tenant, room, member, joinedAtMs, message, owners }) =>
    tuple(tenant, room, member, joinedAtMs, messageFields(message), owners),
  (tenant, room, member, joinedAtMs, fields, owners) => ({
    ...{ tenant, room, member, joinedAtMs, owners },
    message: messageFrom(...fields),
  }),
);

export const streamTopicCodec: Codec<StoredStreamTopic> = codecOf(
  ({ tenant, topic, epoch, last, completeSinceMs, holder, origins, first, highestId }) =>
    tuple(tenant, topic, epoch, last, completeSinceMs, holder, origins, first, highestId),
  (tenant, topic, epoch, last, completeSinceMs, holder, origins, first, highestId) => ({
    ...{ tenant, topic, epoch, last, completeSinceMs, origins, first, highestId },
    holder: holder ?? undefined,
  }),
);

export const streamIndexCodec: Codec<StreamIndex> = codecOf(
  ({ timesMs, bytes }) => tuple(timesMs, bytes),
  (timesMs, bytes) => ({ timesMs, bytes }),
);

export const streamEntryCodec: Codec<StoredStreamEntry> = codecOf(
  ({ message, tsMs, key, origin, stable }) =>
    tuple(messageFields(message), tsMs, key, origin?.source, origin?.number, stable),
  (fields, tsMs, key, source, number, stable) => ({
    ...{ message: messageFrom(...fields), tsMs, key, stable },
    origin: typeof source === 'string' && typeof number === 'number' ? { source, number } : undefined,
  }),
);

export const subscriptionCodec: Codec<Subscription> = codecOf(
  ({
    topicFilter,
    shareGroup,
    qos,
    noLocal,
    retainAsPublished,
    subscriptionIdentifier,
    reader,
    conflateMs,
    where,
  }) =>
    tuple(
      topicFilter,
      shareGroup,
      qos,
      noLocal,
      retainAsPublished,
      subscriptionIdentifier,
      reader !== undefined,
      conflateMs,
      where,
    ),
  (
    topicFilter,
    shareGroup,
    qos,
    noLocal,
    retainAsPublished,
    subscriptionIdentifier,
    isReader,
    conflateMs,
    where,
  ) => {
    const plain = { topicFilter, shareGroup, qos, noLocal, retainAsPublished, subscriptionIdentifier };
    if (!isReader && conflateMs === undefined && where === undefined) return plain;
    return {
      ...plain,
      ...(isReader && { reader: ENDED_READER }),
      ...(conflateMs !== undefined && { conflateMs }),
      ...(where !== undefined && { where }),
    };
  },
);

export const queuedCodec: Codec<StoredQueued> = codecOf(
  ({ delivery: { qos, retain, subscriptionIdentifiers, share, packetId, copy }, message, reservedId }) =>
    tuple(
      qos,
      retain,
      subscriptionIdentifiers,
      share,
      packetId,
      typeof message === 'number' ? message : messageFields(message),
      reservedId,
      copy,
    ),
  (
    qos: QoS,
    retain: boolean,
    subscriptionIdentifiers: readonly number[] | undefined,
    share: ShareName | undefined,
    packetId: PacketId,
    message: number | MessageFields,
    reservedId: PacketId,
    copy: string | undefined,
  ) => ({
    delivery: { qos, retain, subscriptionIdentifiers, share, packetId, ...(copy !== undefined && { copy }) },
    message: typeof message === 'number' ? message : messageFrom(...message),
    reservedId,
  }),
);

export const inflightCodec: Codec<StoredInflight> = codecOf(
  ({ packetId, isReleased }) => tuple(packetId, isReleased),
  (packetId, isReleased) => ({ packetId, isReleased }),
);

export const receiptCodec: Codec<StoredReceipt> = codecOf(
  ({ messageId, isDelivered }) => tuple(messageId, isDelivered),
  (messageId, isDelivered) => ({ messageId, isDelivered }),
);

export const completedCopyCodec: Codec<StoredCompletedCopy> = codecOf(
  ({ messageId, tenant, share, copy }) => tuple(messageId, tenant, share, copy),
  (messageId, tenant, share: ShareName | undefined, copy) => ({ messageId, tenant, share, copy }),
);
