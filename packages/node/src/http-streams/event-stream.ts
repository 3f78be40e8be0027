import { Duplex } from 'node:stream';
import { StreamProperty } from '@apus/broker';
import type { Scheduler } from '@apus/door';
import {
  type ConnackPacket,
  encodePacket,
  isFailure,
  type Packet,
  PacketDecoder,
  type PublishPacket,
  ReasonCode,
  type SubackPacket,
  type UserProperties,
  Violation,
} from '@apus/mqtt';
import { EventAnswer, type EventAnswerOptions } from './event-answer.ts';
import { EventPositions } from './event-positions.ts';
import { type EventFilter, type EventRequest, notePositions, startOf } from './event-request.ts';
import {
  type EventType,
  endData,
  eventText,
  HEARTBEAT,
  messageData,
  refusalForNow,
  refusalOfCode,
} from './event-text.ts';

/** Proxies end a connection that is silent for a minute. */
export const HEARTBEAT_SECONDS = 15;

/** A client that takes nothing for so long is ended, although no message was dropped for it. */
export const STALLED_SECONDS_MAX = 60;

/**
 * Characters of events that wait until all filters are granted: retained messages of the first ones. Beyond it the
 * answer begins, and the refusal of a later filter is the last event.
 */
const HELD_LENGTH_MAX = 256 * 1024;

/** The broker's packets may be larger than those that it takes: it adds user properties. */
const PACKET_BYTES_MAX = 0x0fff_ffff;

const TOO_SLOW = 'This client has not read fast enough: messages for it were dropped.';
const STALLED = `This client has read nothing for ${STALLED_SECONDS_MAX} s.`;
const CUT = 'The broker has cut the stream.';
const NO_PLACE =
  'This identity, its tenant or the broker has as many connections or sessions as it may have: try again later.';
const GAP = 'Messages behind the last event may be missing.';

export interface EventStreamOptions extends EventAnswerOptions {
  readonly request: EventRequest;
  /** The user name and password of the request. */
  readonly login: { readonly username: string; readonly password: Uint8Array } | undefined;
  readonly scheduler: Scheduler;
  /** The broker has dropped messages because the client does not read. */
  readonly hasDropped: () => boolean;
}

/**
 * The socket of a link whose client reads events over HTTP (text/event-stream). It speaks MQTT 5 to the link, as a
 * client that connects and subscribes, and turns what the link writes into events.
 */
export class EventStream extends Duplex {
  readonly #options: EventStreamOptions;
  readonly #answer: EventAnswer;
  readonly #decoder = new PacketDecoder({ maximumPacketSize: PACKET_BYTES_MAX, role: 'client' });
  readonly #positions: EventPositions;
  #phase: 'connecting' | 'subscribing' | 'open' = 'connecting';
  /** The filter whose SUBACK is awaited. */
  #asked = 0;
  /** Its SUBSCRIBE asks for what came behind the last event. */
  #isGoingOn = false;
  #toldId: string | undefined;
  #heartbeatMs = HEARTBEAT_SECONDS * 1000;
  /** The broker asks for a Keep Alive. */
  #pings = false;
  #cancelBeat = () => {};

  constructor(options: EventStreamOptions) {
    super();
    this.#options = options;
    this.#answer = new EventAnswer(options, () => this.destroy());
    this.#positions = new EventPositions(options.request.onlyTopic);
  }

  /** Connects. */
  begin(): void {
    this.#send({
      type: 'connect',
      protocolVersion: 5,
      cleanStart: true,
      keepAliveSeconds: 0,
      // The broker assigns one, so no other process of a cluster has its session.
      clientId: '',
      ...this.#options.login,
      properties: {},
    });
  }

  override _read(): void {}

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    if (this.#options.hasDropped()) this.#end(ReasonCode.QuotaExceeded, TOO_SLOW);
    for (const packet of this.#decoder.push(chunk)) if (!this.#answer.isEnded) this.#receive(packet);
    this.#answer.flush(done);
  }

  /** The broker has closed the connection. */
  override _final(done: () => void): void {
    this.#end(ReasonCode.UnspecifiedError, CUT);
    done();
  }

  override _destroy(_: Error | null, done: (error: null) => void): void {
    // Events that it has not read have to go at once: the link may be cut for its memory.
    if (this.#answer.isWaiting) this.#answer.cut();
    this.#end(ReasonCode.QuotaExceeded, CUT);
    this.#cancelBeat();
    done(null);
  }

  /** As a socket does, it gives its bytes to the link outside of the link's own calls, as a write may be one. */
  #send(packet: Packet): void {
    queueMicrotask(() => {
      if (!this.destroyed) this.push(encodePacket(packet, 5));
    });
  }

  #receive(packet: Packet | Violation): void {
    if (packet instanceof Violation) this.#end(packet.reasonCode, packet.reason);
    else if (packet.type === 'publish') this.#deliver(packet);
    else if (packet.type === 'connack') this.#connected(packet);
    else if (packet.type === 'suback') this.#subscribed(packet);
    else if (packet.type === 'disconnect') this.#end(packet.reasonCode, packet.properties.reasonString);
  }

  #connected({ reasonCode, properties: { reasonString, serverKeepAlive } }: ConnackPacket): void {
    if (isFailure(reasonCode)) {
      this.#answer.refuse(refusalOfCode(reasonCode, reasonString, 'BAD_TOKEN'));
      return;
    }
    this.#pings = serverKeepAlive !== undefined;
    this.#heartbeatMs = Math.min(HEARTBEAT_SECONDS, serverKeepAlive ?? HEARTBEAT_SECONDS) * 1000;
    this.#phase = 'subscribing';
    this.#subscribe(this.#options.request.since);
  }

  get #filter(): EventFilter | undefined {
    return this.#options.request.filters[this.#asked];
  }

  #subscribe(since: EventRequest['since']): void {
    const filter = this.#filter;
    if (filter === undefined) {
      this.#open();
      return;
    }
    const userProperties = startOf(filter, since);
    this.#isGoingOn = since instanceof Map && filter.read !== undefined;
    const own = { noLocal: false, retainAsPublished: false, retainHandling: 0 } as const;
    this.#send({
      type: 'subscribe',
      packetId: this.#asked + 1,
      subscriptions: [{ topicFilter: filter.requested, qos: 0, ...own }],
      properties: {
        // Messages with an identifier have a position that counts.
        ...(filter.read !== undefined && { subscriptionIdentifier: this.#asked + 1 }),
        ...(userProperties.length > 0 && { userProperties }),
      },
    });
  }

  #subscribed({ reasonCodes: [reasonCode = 0], properties }: SubackPacket): void {
    const { since } = this.#options.request;
    const filter = this.#filter;
    if (filter === undefined) return;
    if (isFailure(reasonCode)) {
      const isForbidden = reasonCode === ReasonCode.NotAuthorized;
      // Where it cannot go on, it begins anew, and tells of the gap.
      if (this.#isGoingOn && !isForbidden) this.#subscribe('unknown');
      else this.#refuseFilter(filter, reasonCode, properties.reasonString);
      return;
    }
    const told = properties.userProperties ?? [];
    if (since !== undefined && !(this.#isGoingOn && isRecovered(told)))
      this.#tell({ topic: filter.requested, message: GAP }, 'gap');
    notePositions(this.#positions, filter, told);
    this.#asked += 1;
    this.#subscribe(since);
  }

  #refuseFilter({ requested }: EventFilter, reasonCode: number, reason: string | undefined): void {
    const isForbidden = reasonCode === ReasonCode.NotAuthorized;
    const why = isForbidden ? 'this client may not subscribe to it' : reason;
    const sentence = why && `topic=${JSON.stringify(requested)} is refused: ${why}.`;
    if (this.#answer.hasBegun) this.#end(reasonCode, sentence);
    else this.#answer.refuse(refusalOfCode(reasonCode, sentence, 'FORBIDDEN'));
  }

  /** All filters are granted: from here on events have the id with which their client goes on. */
  #open(): void {
    this.#phase = 'open';
    this.#answer.begin();
    this.#answer.add(eventText(undefined, { id: this.#newId() }));
    this.#beatLater();
  }

  #newId(): string | undefined {
    const id = this.#phase === 'open' ? this.#positions.toString() : undefined;
    if (id === this.#toldId) return undefined;
    this.#toldId = id;
    return id;
  }

  #deliver(packet: PublishPacket): void {
    const { userProperties, subscriptionIdentifiers } = packet.properties;
    if (subscriptionIdentifiers !== undefined) {
      const position = userProperties?.find(([name]) => name === StreamProperty.position)?.[1];
      if (position !== undefined) this.#positions.set(packet.topic, position);
    }
    this.#tell(messageData(packet));
  }

  #tell(data: object, type?: EventType): void {
    this.#answer.add(eventText(data, { id: this.#newId(), type }));
    if (this.#answer.heldLength > HELD_LENGTH_MAX) this.#answer.begin();
  }

  #beatLater(): void {
    this.#cancelBeat = this.#options.scheduler.after(this.#heartbeatMs, () => this.#beat());
  }

  #beat(): void {
    if (this.#options.hasDropped()) this.#end(ReasonCode.QuotaExceeded, TOO_SLOW);
    else if (this.#answer.waitsMs >= STALLED_SECONDS_MAX * 1000) this.#end(ReasonCode.QuotaExceeded, STALLED);
    if (this.#answer.isEnded) return;
    if (!this.#answer.isWaiting) {
      this.#answer.add(HEARTBEAT);
      this.#answer.flush();
    }
    if (this.#pings) this.#send({ type: 'pingreq' });
    this.#beatLater();
  }

  /** Answers with an error if nothing was answered, and otherwise with a last event. */
  #end(reasonCode: number, reason: string | undefined): void {
    if (this.#answer.isEnded) return;
    if (this.#answer.hasBegun) this.#answer.end(eventText(endData(reasonCode, reason), { type: 'end' }));
    else if (this.#phase === 'connecting') this.#answer.refuse(refusalForNow('TOO_MANY_REQUESTS', NO_PLACE));
    else this.#answer.refuse(refusalOfCode(reasonCode, reason, 'BAD_TOKEN'));
  }
}

function isRecovered(told: UserProperties): boolean {
  return told.some(([name, value]) => name === StreamProperty.recovered && value === 'true');
}
