import type {
  Attachment,
  Delivery,
  DetachSession,
  Message,
  OpenSession,
  QueueLimits,
  SessionRef,
} from '@apus/broker';

export const NOW_MS = 1_700_000_000_000;
export const TENANT = 'tenant';
export const ROOMY: QueueLimits = { queueLengthMax: 1000, queueBytesMax: 1_000_000, whenFull: 'drop-oldest' };
export const PAGE = { messages: 1000, bytes: Number.POSITIVE_INFINITY };

export function messageId(number: number): string {
  return `${number.toString(36).padStart(13, '0')}-test`;
}

export function attachmentOf(connectionId: string, receiveMaximum = 10): Attachment {
  return {
    connectionId,
    protocolVersion: 5,
    receiveMaximum,
    maximumPacketSize: 0xffff_ffff,
    keepsNothing: false,
  };
}

export function openOf(clientId: string, fields: Partial<OpenSession> = {}): OpenSession {
  return {
    tenant: TENANT,
    clientId,
    cleanStart: false,
    expirySeconds: 60,
    attachment: attachmentOf(`${clientId}:1`),
    identity: { tenant: TENANT, name: 'somebody', claims: { may: ['a/#'] } },
    will: undefined,
    nowMs: NOW_MS,
    isWillOwed: () => false,
    ...fields,
  };
}

/** The end of a connection that brought no will. */
export function detachOf(session: SessionRef, fields: Partial<DetachSession> = {}): DetachSession {
  return {
    session,
    connectionId: session.attachment?.connectionId ?? '',
    expirySeconds: 60,
    nowMs: NOW_MS,
    will: undefined,
    ...fields,
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
