import type { MessageProperties, PublishProperties, QoS } from '@apus/mqtt';
import type { Context } from '../context.ts';
import type { AcceptOptions, AcceptOutcome } from '../model/accept-outcome.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import type { Message, MessageId } from '../model/message.ts';
import { owned, ownedProperties } from '../model/owned.ts';
import { messageBytes } from '../model/page.ts';
import { holderKeyOf } from '../model/quota-holder.ts';
import type { StreamDeclaration } from '../model/stream-declaration.ts';
import { streamOf } from '../streams/append.ts';
import { delay, parseDelayed } from './delayed.ts';
import { forward, isMemoryFull } from './forward.ts';
import { forwardNow } from './now.ts';
import { hasAnswer, hasOutletRoom, isTakenByOutlet } from './outlet.ts';
import { refusalToRetain, retain } from './retain.ts';
import { underWay } from './under-way.ts';

/** A message before it has an id: from a PUBLISH, a will, or a request over HTTP. */
export interface MessageDraft {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly qos: QoS;
  readonly retain: boolean;
  readonly properties: PublishProperties;
  readonly publisherKey: string | undefined;
}

export function createMessage(context: Context, draft: MessageDraft, id: MessageId): Message {
  const { messageExpiryInterval } = draft.properties;
  return {
    id,
    topic: draft.topic,
    payload: owned(draft.payload),
    qos: draft.qos,
    retain: draft.retain,
    properties: messageProperties(draft.properties),
    expiresAtMs:
      messageExpiryInterval === undefined
        ? undefined
        : context.ports.clock.now() + messageExpiryInterval * 1000,
    publisherKey: draft.publisherKey,
  };
}

/** The properties that stay with a message until it is delivered. Most messages have none. */
function messageProperties(given: PublishProperties): MessageProperties {
  if (isEmpty(given)) return given;
  const { messageExpiryInterval: _, topicAlias: __, subscriptionIdentifiers: ___, ...properties } = given;
  return ownedProperties(properties);
}

function isEmpty(properties: object): boolean {
  for (const _ in properties) return false;
  return true;
}

/**
 * Takes responsibility for a message: retains it if asked, finds its subscribers and delivers it to them. If a port is
 * unavailable before the first write, nothing of the message is left; after that the error is `UnderWay`.
 *
 * It retains before it matches, and a subscriber writes its subscription before it reads retained messages: in every
 * interleaving the subscriber sees the newest value.
 */
export function* accept(
  context: Context,
  tenant: string,
  message: Message,
  options: AcceptOptions = {},
): Flow<AcceptOutcome> {
  const { delays, outlet } = context.ports;
  const delayed = delays && parseDelayed(message.topic);
  if (delays !== undefined && delayed !== undefined)
    return yield* delay(
      delays,
      tenant,
      { ...message, topic: delayed.topic },
      delayed.seconds,
      context,
      options,
    );
  if (outlet !== undefined && !(yield* isTakenByOutlet(context, tenant, message, options)))
    return 'outlet-refused';
  if (!hasOutletRoom(context, tenant, message, options)) return 'outlet-refused';
  if (!message.retain) return yield* forward(context, tenant, message, options);
  if (message.payload.length > 0 && isMemoryFull(context, message, options)) return 'memory-full';
  yield* flush(context, message.topic);
  return yield* underWay(retainAndForward(context, tenant, message, options));
}

/**
 * Before a newer message of the topic is retained, sends the messages of the topic that the event has gathered:
 *
 *     publisher's frame: 1, 2            subscriber
 *     retains 1, matches it
 *     retains 2
 *                                        reads 2, retained
 *     (were 1 to leave only now …)
 *                                        … 1 would come behind 2
 */
function* flush({ ports: { outbox } }: Context, topic: string): Flow<void> {
  if (outbox !== undefined) yield* waitFor(outbox.flush(topic));
}

function* retainAndForward(
  context: Context,
  tenant: string,
  message: Message,
  options: AcceptOptions,
): Flow<AcceptOutcome> {
  const { retained, streams } = context.ports;
  const stream = streamOf(context, message.topic);
  // Where several processes publish to a topic, its stream may refuse the message when it is appended. So the message
  // is appended first, and retained when it has its place. Elsewhere a stream can only lack room for one more topic.
  const isPlacedFirst = stream !== undefined && streams?.isShared === true && retained.hasRoom !== undefined;
  const refusal =
    (yield* refusalToWrite(context, message, options)) ??
    (isPlacedFirst
      ? yield* refusalToRetain(context, tenant, message, options)
      : ((yield* refusalToOpen(context, tenant, stream, message, options)) ??
        (yield* retain(context, tenant, message, options))));
  if (refusal !== undefined && hasAnswer(message, options)) return refusal;
  if (isPlacedFirst && refusal === undefined) return yield* forward(context, tenant, message, options, true);
  const forwarding = forwardNow(context, tenant, message, options);
  return typeof forwarding === 'string' ? forwarding : yield* forwarding;
}

function* refusalToOpen(
  { ports: { streams, clock } }: Context,
  tenant: string,
  stream: StreamDeclaration | undefined,
  message: Message,
  options: AcceptOptions,
): Flow<'memory-full' | undefined> {
  if (stream === undefined || streams === undefined || !hasAnswer(message, options)) return undefined;
  const tail = yield* waitFor(
    streams.store.tail(tenant, stream, message.topic, clock.now(), holderKeyOf(options.publisher)),
  );
  return typeof tail === 'string' ? 'memory-full' : undefined;
}

/** Bytes of a stored retained message that count as one write. */
const WRITE_BYTES = 1024;

function* refusalToWrite(
  { ports: { writeQuota } }: Context,
  message: Message,
  { publisher }: AcceptOptions,
): Flow<'writes-exceeded' | undefined> {
  if (writeQuota === undefined || publisher === undefined) return undefined;
  const writes = Math.max(1, Math.ceil(messageBytes(message) / WRITE_BYTES));
  return (yield* waitFor(writeQuota.take(publisher, writes))) ? undefined : 'writes-exceeded';
}
