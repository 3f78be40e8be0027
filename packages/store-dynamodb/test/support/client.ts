import type {
  Attachment,
  Delivery,
  Message,
  OpenedSession,
  QueueLimits,
  SessionRecord,
  SessionRef,
  Stores,
  Subscription,
} from '@apus/broker';
import { NOW_MS } from './stores.ts';

let names = 0;

/** A name that no other test has. */
export function unique(prefix: string): string {
  names += 1;
  return `${prefix}-${process.pid}-${names}`;
}

export const ROOMY: QueueLimits = { queueLengthMax: 1000, queueBytesMax: 1e9, whenFull: 'drop-oldest' };

export const PAGE = { messages: 100, bytes: Number.POSITIVE_INFINITY };

export const messageId = (number: number): string => `${number.toString(36).padStart(13, '0')}-test`;

export function attachmentOf(connectionId: string, fields: Partial<Attachment> = {}): Attachment {
  return {
    connectionId,
    protocolVersion: 5,
    receiveMaximum: 10,
    maximumPacketSize: 0xffff_ffff,
    keepsNothing: false,
    ...fields,
  };
}

export async function open(
  stores: Stores,
  tenant: string,
  clientId: string,
  fields: { connectionId?: string; cleanStart?: boolean; attachment?: Partial<Attachment> } = {},
): Promise<OpenedSession> {
  const { connectionId = `${clientId}:1`, cleanStart = false, attachment } = fields;
  return await stores.sessions.open({
    tenant,
    clientId,
    cleanStart,
    expirySeconds: 3600,
    attachment: attachmentOf(connectionId, attachment),
    identity: { tenant, name: 'somebody' },
    will: undefined,
    nowMs: NOW_MS,
    isWillOwed: () => false,
  });
}

/** The connection ends, and brought no will. */
export async function detach(
  stores: Stores,
  session: SessionRef,
  connectionId: string,
  expirySeconds = 3600,
): Promise<SessionRecord | undefined> {
  return await stores.sessions.detach({
    session,
    connectionId,
    expirySeconds,
    nowMs: NOW_MS,
    will: undefined,
  });
}

export function subscriptionTo(topicFilter: string, shareGroup?: string): Subscription {
  return {
    topicFilter,
    shareGroup,
    qos: 1,
    noLocal: false,
    retainAsPublished: false,
    subscriptionIdentifier: undefined,
  };
}

export function messageOf(number: number, fields: Partial<Message> = {}): Message {
  return {
    id: messageId(number),
    topic: 'a/b',
    payload: Buffer.from(`${number}`),
    qos: 1,
    retain: false,
    properties: {},
    expiresAtMs: undefined,
    publisherKey: undefined,
    ...fields,
  };
}

export function deliveryTo(session: SessionRef, fields: Partial<Delivery> = {}): Delivery {
  return {
    session,
    qos: 1,
    retain: false,
    subscriptionIdentifiers: undefined,
    share: undefined,
    packetId: 0,
    dup: false,
    ...fields,
  };
}
