import { type AcknowledgementPacket, isFailure, ReasonCode, Violation } from '@apus/mqtt';
import type { Context } from '../context.ts';
import { violate } from '../ending/disconnect.ts';
import { type Awaitable, type Flow, waitFor } from '../model/flow.ts';
import type { Connection, Link } from '../model/link.ts';
import type { Acknowledged, CompletingPacket } from '../ports/index.ts';
import { reply } from '../reply.ts';
import { drain, isDrained } from './drain.ts';

/**
 * PUBACK, PUBREC, PUBREL and PUBCOMP (sections 3.4 to 3.7). The broker answers an acknowledgement for an unused packet
 * id if the exchange has an answer, and otherwise ignores it: a client may send one after it reconnects.
 */
export function acknowledgement(
  context: Context,
  link: Link,
  connection: Connection,
  packet: AcknowledgementPacket,
): Flow<void> | undefined {
  switch (packet.type) {
    case 'puback':
    case 'pubcomp':
      return completed(context, link, connection, packet.type, packet.packetId);
    case 'pubrec':
      return received(context, link, connection, packet);
    case 'pubrel':
      return released(context, link, connection, packet.packetId);
  }
}

/**
 * Undefined: done, without a generator. A fan-out brings one of these for each subscriber, and a generator is a third
 * of the work.
 */
function completed(
  context: Context,
  link: Link,
  connection: Connection,
  answer: CompletingPacket,
  packetId: number,
): Flow<void> | undefined {
  const outcome = context.ports.queues.complete(connection.session, packetId, answer);
  if (outcome === 'done' && isDrained(context, link, connection)) return undefined;
  return afterCompletion(context, link, connection, answer, packetId, outcome);
}

/** The window has room again: a waiting message may leave [MQTT-4.9.0-3]. */
function* afterCompletion(
  context: Context,
  link: Link,
  connection: Connection,
  answer: CompletingPacket,
  packetId: number,
  completing: Awaitable<Acknowledged>,
): Flow<void> {
  const outcome = yield* waitFor(completing);
  if (outcome === 'out-of-place') yield* violate(context, link, outOfPlace(answer, packetId));
  if (outcome === 'done' && !isDrained(context, link, connection)) yield* drain(context, link, connection);
}

function outOfPlace(type: CompletingPacket, packetId: number): Violation {
  const reason = `the message with packet identifier ${packetId} is not to be answered by ${type.toUpperCase()} now`;
  return new Violation(ReasonCode.ProtocolError, reason);
}

/** PUBREC: the receiver has the message; PUBREL follows [MQTT-4.3.3-4]. One with an error ends the exchange. */
function* received(
  context: Context,
  link: Link,
  connection: Connection,
  { packetId, reasonCode }: AcknowledgementPacket,
): Flow<void> {
  if (isFailure(reasonCode)) {
    const rest = completed(context, link, connection, 'pubrec', packetId);
    if (rest !== undefined) yield* rest;
    return;
  }
  const outcome = yield* waitFor(context.ports.queues.release(connection.session, packetId));
  if (outcome === 'out-of-place') return yield* violate(context, link, outOfPlace('pubrec', packetId));
  // A PUBREL would make the client complete the message, and take the next PUBLISH for another one.
  if (outcome === 'ended') return;
  reply(link, connection, answer(connection, 'pubrel', packetId, outcome === 'done'));
}

/** PUBREL: the packet id is free, PUBCOMP says so [MQTT-4.3.3-11]. */
function* released(context: Context, link: Link, connection: Connection, packetId: number): Flow<void> {
  const isKnown = yield* waitFor(context.ports.received.release(connection.session, packetId));
  reply(link, connection, answer(connection, 'pubcomp', packetId, isKnown));
}

/**
 * The answer for an unknown packet id. In a session that has lost a connection, the client may repeat a packet whose
 * answer was lost, and its exchange is complete: 0x92 is not an error there (sections 3.6.2.1 and 3.7.2.1), but mqtt.js
 * would report one, and a program would publish the message again.
 */
function answer(
  { isResumed }: Connection,
  type: 'pubrel' | 'pubcomp',
  packetId: number,
  isKnown: boolean,
): AcknowledgementPacket {
  const reasonCode = isKnown || isResumed ? ReasonCode.Success : ReasonCode.PacketIdentifierNotFound;
  return { type, packetId, reasonCode, properties: {} };
}
