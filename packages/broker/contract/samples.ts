import type {
  Attachment,
  Delivery,
  DetachSession,
  Message,
  OpenedSession,
  OpenSession,
  QueueLimits,
  RetainedLimits,
  SessionRef,
  Subscription,
} from '../src/index.ts';

/** Some moment; the suites pass the time as an argument and never wait for it. */
export const NOW_MS = 1_700_000_000_000;

/** So many retained messages, of any size. */
export function upTo(messagesMax: number): RetainedLimits {
  return { messagesMax, bytesMax: Number.POSITIVE_INFINITY };
}

/** Limits that no test meets by accident. */
export const ROOMY: QueueLimits = {
  queueLengthMax: 1000,
  queueBytesMax: 1_000_000_000,
  whenFull: 'drop-oldest',
};

/** As long as a message clock's, and ascending with `number`. */
export function messageId(number: number): string {
  return `${number.toString(36).padStart(13, '0')}-sample`;
}

export function messageOf(fields: Partial<Message> = {}): Message {
  return {
    id: messageId(1),
    topic: 'a/b',
    payload: Buffer.from('payload'),
    qos: 1,
    retain: false,
    properties: {},
    expiresAtMs: undefined,
    publisherKey: undefined,
    ...fields,
  };
}

/** A message whose identifier ascends with `number`, which is also its payload. */
export function numberedMessage(number: number, fields: Partial<Message> = {}): Message {
  return messageOf({ id: messageId(number), payload: Buffer.from(`${number}`), ...fields });
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

export function subscriptionTo(topicFilter: string, fields: Partial<Subscription> = {}): Subscription {
  return {
    topicFilter,
    shareGroup: undefined,
    qos: 1,
    noLocal: false,
    retainAsPublished: false,
    subscriptionIdentifier: undefined,
    ...fields,
  };
}

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

/** The first connection of a client, which wants its old session and brings no will. */
export function openOf(clientId: string, fields: Partial<OpenSession> = {}): OpenSession {
  const { tenant = 'tenant' } = fields;
  return {
    tenant,
    clientId,
    cleanStart: false,
    expirySeconds: 60,
    attachment: attachmentOf(`${clientId}:1`),
    identity: { tenant, name: 'somebody' },
    bindingRank: 1,
    will: undefined,
    nowMs: NOW_MS,
    isWillOwed: () => false,
    ...fields,
  };
}

/** The session of an `open` that is expected to get it. */
export function openedOf(answer: OpenedSession | 'owned-by-another'): OpenedSession {
  if (answer === 'owned-by-another') throw new Error('the session belongs to somebody else');
  return answer;
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
