import {
  type Awaitable,
  type Broker,
  type Clock,
  type ConnectionId,
  type Link,
  type LinkState,
  type Log,
  namesOf,
  type Peer,
  type Subscription,
  savedReadersOf,
} from '@apus/broker';
import {
  type AliasMemory,
  type BufferedLink,
  ClientTopicAliases,
  CloseCode,
  type CountedUsage,
  countSent,
  Inbound,
  type RateQuota,
  TopicAliases,
  type TrafficMeter,
  type TurnHandlers,
  Turns,
} from '@apus/door';
import { encodePacket, type Packet, type ProtocolVersion, ReasonCode, type Violation } from '@apus/mqtt';
import type { ObjectSocket } from '../platform.ts';
import type { SavedFacts, SavedLink } from '../storage/saved-link.ts';
import { type Charged, LinkRate } from './link-rate.ts';

/** `WebSocket.readyState` of an open socket. */
const OPEN = 1;

export interface LinkLimits {
  readonly maximumPacketSize: number;
  readonly connectBytesMax: number;
  readonly outboundBufferBytesMax: number;
  readonly inboundBufferBytesMax: number;
  readonly webSocketMessageBytesMax: number;
}

/** The parts that all links of a hub share. */
export interface LinkContext {
  readonly broker: Broker;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: LinkLimits;
  readonly memory: AliasMemory;
  readonly meter: TrafficMeter;
  readonly rates: RateQuota;
  /** The link has bytes to send, or ends. */
  sends(link: ObjectLink): void;
  /** The link has another state to save. */
  changed(link: ObjectLink): void;
  /** Its client has not read what it was sent: `looked` is called until it has. */
  slow(link: ObjectLink): void;
  /** Called once, when the network connection is gone. */
  ended(link: ObjectLink): void;
}

/** The facts of a connection that its handshake has shown. */
export type LinkFacts = Pick<SavedLink, 'id' | 'peer' | 'openedAtMs'> & Partial<SavedLink>;

/** One client's connection as the broker sees it. It outlives the memory of the object: see `SavedLink`. */
export class ObjectLink implements Link, BufferedLink, Charged, TurnHandlers {
  readonly id: ConnectionId;
  readonly peer: Peer;
  readonly openedAtMs: number;
  readonly socket: ObjectSocket;
  /** Of its session, if that ends with it. */
  passingNumber: number | undefined;
  /** Of its usage. */
  tenant: string | undefined;
  counted: CountedUsage | undefined;
  readonly traffic = {
    ...{ receivedMessages: 0, receivedBytes: 0, sentMessages: 0, sentQos1: 0, sentQos2: 0, sentBytes: 0 },
  };
  readonly #context: LinkContext;
  readonly #inbound: Inbound;
  readonly #turns: Turns;
  readonly #rate: LinkRate;
  #state: LinkState;
  #inboundAliases: ClientTopicAliases | undefined;
  #outboundAliases: TopicAliases | undefined;
  #readers: Map<string, Subscription> | undefined;
  #lastPacketAtMs: number;
  #gathered: Uint8Array[] = [];
  #gatheredBytes = 0;
  #closing: { readonly code: number; readonly reason: string } | undefined;
  #isGone = false;
  #hasEnded = false;
  /** The broker knows that this link takes no more, and waits for `drain`. */
  #drainWanted = false;
  /** Packets wait until the client has read what it was sent. */
  #isStalled = false;
  #waitsForTurn = false;

  constructor(context: LinkContext, socket: ObjectSocket, facts: LinkFacts) {
    const { id, peer, openedAtMs, state = { phase: 'new' }, lastPacketAtMs = openedAtMs } = facts;
    this.id = id;
    this.peer = peer;
    this.openedAtMs = openedAtMs;
    this.socket = socket;
    this.#context = context;
    this.#state = state;
    this.#lastPacketAtMs = lastPacketAtMs;
    const { maximumPacketSize, connectBytesMax } = context.limits;
    const version = state.phase === 'new' ? undefined : versionOf(state);
    this.#inbound = new Inbound(maximumPacketSize, connectBytesMax, version);
    this.#turns = new Turns(this.#inbound, this, context.clock);
    this.#rate = new LinkRate(context, this);
    for (const [alias, topic] of facts.aliases ?? []) this.topicAliases.set(alias, topic);
    if (facts.unfinished !== undefined && facts.unfinished.length > 0) this.#inbound.push(facts.unfinished);
  }

  get state(): LinkState {
    return this.#state;
  }

  set state(state: LinkState) {
    this.#state = state;
    this.#context.changed(this);
  }

  get isOpen(): boolean {
    return this.#closing === undefined && !this.#isGone && this.socket.readyState === OPEN;
  }

  /** The broker closes the connection, or it is gone. */
  get isOver(): boolean {
    return this.#closing !== undefined || this.#isGone;
  }

  get topicAliases(): ClientTopicAliases {
    this.#inboundAliases ??= new ClientTopicAliases(this.#context.memory);
    return this.#inboundAliases;
  }

  get readers(): Map<string, Subscription> {
    this.#readers ??= new Map();
    return this.#readers;
  }

  /** Most clients read no stream: asking does not make the map. */
  get isReading(): boolean {
    return this.#readers !== undefined && this.#readers.size > 0;
  }

  get lastPacketAtMs(): number {
    return this.#lastPacketAtMs;
  }

  /** The broker has not answered the last packet. */
  get isBusy(): boolean {
    return this.#turns.isBusy;
  }

  get waitsForTurn(): boolean {
    return this.#waitsForTurn;
  }

  get outboundAliases(): TopicAliases | undefined {
    if (this.#state.phase !== 'connected') return undefined;
    // [MQTT-3.1.2-27]
    if (this.#state.connection.topicAliasMaximum === 0) return undefined;
    this.#outboundAliases ??= new TopicAliases(
      this.#state.connection.topicAliasMaximum,
      this.#context.memory,
    );
    return this.#outboundAliases;
  }

  /** What the link's own memory holds, to be saved, beside the facts of its connection. */
  get saved(): Omit<SavedLink, keyof SavedFacts | 'progress' | 'records' | 'usage'> {
    return {
      lastPacketAtMs: this.#lastPacketAtMs,
      aliases: this.#inboundAliases?.entries() ?? [],
      readers: this.isReading ? savedReadersOf(this) : [],
      unfinished: this.#inbound.unfinished,
    };
  }

  /** `Broker.drain` follows when half of what waits has left. */
  isReady(): boolean {
    return this.roomBytes() > 0;
  }

  roomBytes(): number {
    const roomBytes = this.#context.limits.outboundBufferBytesMax - this.unreadBytes;
    if (roomBytes > 0) return roomBytes;
    this.#drainWanted = true;
    this.#context.slow(this);
    return roomBytes;
  }

  send(packet: Packet, version: ProtocolVersion): void {
    countSent(this.#context.meter, packet);
    this.push(encodePacket(packet, version));
  }

  push(packet: Uint8Array, tail?: Uint8Array, idAt = -1, id = 0): void {
    if (!this.isOpen) return;
    this.#gather(idAt < 0 ? packet : withId(packet, idAt, id));
    if (tail !== undefined) this.#gather(tail);
    // A message without packet identifier leaves nothing to be saved, but the position of a reader.
    if (idAt >= 0 || this.isReading) this.#context.changed(this);
    else this.#context.sends(this);
  }

  /** Everything that the event has caused for this client leaves, after the commit. Returns how many bytes. */
  flush(): number {
    if (this.#isGone) return 0;
    const bytes = this.#gatheredBytes;
    try {
      if (bytes > 0) this.#sendGathered();
      if (this.#closing !== undefined) this.socket.close(this.#closing.code, this.#closing.reason);
    } catch {
      // The client is gone already.
      queueMicrotask(() => this.closed('the connection was gone'));
      return 0;
    }
    if (this.#closing !== undefined) queueMicrotask(() => this.closed('closed by the broker'));
    return bytes;
  }

  close(_endedBy: 'client' | 'server', tryAgainBecause?: string): void {
    if (tryAgainBecause === undefined) this.closeWith(CloseCode.Normal);
    else this.closeWith(CloseCode.TryAgainLater, tryAgainBecause);
  }

  closeWith(code: number, reason = ''): void {
    if (this.#closing !== undefined || this.#isGone) return;
    this.#closing = { code, reason: reason.slice(0, CLOSE_REASON_LENGTH_MAX) };
    this.#turns.close();
    this.#context.sends(this);
  }

  /** Ends the connection for a reason of the server's, after the broker's present work for it. */
  disconnect(reasonCode: number, reason: string): void {
    this.#turns.call(() => this.#context.broker.disconnect(this, reasonCode, reason));
  }

  received(data: ArrayBuffer | string): void {
    if (this.isOver) return;
    if (typeof data === 'string') {
      // [MQTT-6.0.0-1]
      this.#log('text-frame');
      this.closeWith(CloseCode.UnsupportedData, 'MQTT packets come in binary messages');
      return;
    }
    const { webSocketMessageBytesMax } = this.#context.limits;
    if (data.byteLength > webSocketMessageBytesMax) {
      this.closeWith(
        CloseCode.MessageTooBig,
        `A WebSocket message has at most ${webSocketMessageBytesMax} bytes`,
      );
      return;
    }
    this.traffic.receivedBytes += data.byteLength;
    this.#rate.message(data.byteLength);
    this.#turns.push(new Uint8Array(data));
  }

  closed(why: string): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#turns.end(why);
    this.#end();
  }

  /** Called by `Turns`. */
  handle(packet: Packet | Violation): Awaitable<void> {
    this.#lastPacketAtMs = this.#context.clock.now();
    if ('type' in packet) this.#rate.packet(packet);
    if ('type' in packet && packet.type === 'publish') this.traffic.receivedMessages += 1;
    return this.#context.broker.receive(this, packet);
  }

  lost(why: string): Awaitable<void> {
    return this.#context.broker.lost(this, why);
  }

  /** An exception is a defect, or a fault of the infrastructure: it ends this connection alone. */
  failed(error: unknown): void {
    this.#context.log.error('link-failed', {
      ...namesOf(this),
      error: String((error as Error)?.stack ?? error),
    });
    if (this.#state.phase === 'connected' && this.#state.connection.protocolVersion === 5)
      this.send({ type: 'disconnect', reasonCode: ReasonCode.UnspecifiedError, properties: {} }, 5);
    this.closeWith(CloseCode.InternalError);
  }

  /** The hub takes no packets of a client that does not read: the answers would have to wait as well. */
  isStalled(): boolean {
    this.#isStalled = this.unreadBytes >= this.#context.limits.outboundBufferBytesMax;
    if (this.#isStalled) this.#context.slow(this);
    return this.#isStalled || this.#rate.mustWait();
  }

  /**
   * What the link saves has changed: a packet that it has taken must not come again. The runtime cannot be asked not to
   * read a client: one that sends far ahead of the broker is disconnected.
   */
  waiting(): void {
    this.#context.changed(this);
    const { inboundBufferBytesMax, maximumPacketSize } = this.#context.limits;
    if (this.isOver || this.#inbound.bytes <= inboundBufferBytesMax + maximumPacketSize) return;
    this.#log('inbound-overload', { heldBytes: this.#inbound.bytes });
    if (this.#state.phase !== 'connected')
      this.closeWith(CloseCode.PolicyViolation, 'Too many bytes wait for the broker');
    else if (this.#rate.isWaiting)
      this.disconnect(ReasonCode.MessageRateTooHigh, 'More came than the rates of this identity allow');
    else this.disconnect(ReasonCode.QuotaExceeded, 'Too many bytes wait for the broker');
  }

  /** Returns whether its client has read enough for more. */
  looked(): boolean {
    if (this.isOver) return true;
    if (this.unreadBytes * 2 >= this.#context.limits.outboundBufferBytesMax) return false;
    this.#isStalled = false;
    if (this.#drainWanted) {
      this.#drainWanted = false;
      this.drainSoon();
    } else this.#turns.advance();
    return true;
  }

  takeTurn(): void {
    if (this.#state.phase !== 'connected' || this.#waitsForTurn) return;
    this.#waitsForTurn = true;
    setTimeout(() => {
      this.#waitsForTurn = false;
      this.drainSoon();
    }, 0);
  }

  /** It has waited for its rate. */
  goOn(): void {
    this.#turns.advance();
  }

  /** After the memory of the object was lost. */
  wake(readers: SavedLink['readers']): void {
    if (readers.length > 0) this.#turns.call(() => this.#context.broker.goOnReading(this, readers));
    this.drainSoon();
  }

  drainSoon(): void {
    if (this.isOpen) this.#turns.call(() => this.#context.broker.drain(this));
  }

  get unreadBytes(): number {
    return this.#gatheredBytes + (this.socket.bufferedAmount ?? 0);
  }

  #gather(bytes: Uint8Array): void {
    this.#gathered.push(bytes);
    this.#gatheredBytes += bytes.length;
    this.traffic.sentBytes += bytes.length;
  }

  #sendGathered(): void {
    const [first] = this.#gathered;
    const bytes = this.#gathered.length === 1 && first !== undefined ? first : Buffer.concat(this.#gathered);
    this.#gathered = [];
    this.#gatheredBytes = 0;
    if (this.socket.readyState === OPEN) this.socket.send(bytes);
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#inboundAliases?.release();
    this.#outboundAliases?.release();
    this.#context.ended(this);
  }

  #log(event: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.#context.log.info(event, { ...namesOf(this), ...fields });
  }
}

/** A close frame has at most 125 bytes, two of them for the code. */
const CLOSE_REASON_LENGTH_MAX = 120;

function versionOf(state: LinkState): ProtocolVersion | undefined {
  if (state.phase === 'connected') return state.connection.protocolVersion;
  return state.phase === 'authenticating' ? 5 : undefined;
}

function withId(bytes: Uint8Array, idAt: number, id: number): Uint8Array {
  const copy = Buffer.from(bytes);
  copy[idAt] = id >> 8;
  copy[idAt + 1] = id & 0xff;
  return copy;
}
