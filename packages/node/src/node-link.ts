import type { Socket } from 'node:net';
import {
  type Awaitable,
  type Broker,
  type ConnectionId,
  type Link,
  type LinkState,
  type Log,
  namesOf,
  type Peer,
  type Subscription,
} from '@apus/broker';
import { encodePacket, type Packet, type ProtocolVersion, ReasonCode, type Violation } from '@apus/mqtt';
import { CloseCode } from './close-code.ts';
import type { Cluster } from './cluster.ts';
import { Inbound } from './inbound.ts';
import type { InboundHolder } from './inbound-budget.ts';
import type { NodeLimits } from './limits.ts';
import { type Flusher, OutboundBuffer, type Sender } from './outbound-buffer.ts';
import { type Charged, LinkRate, type LinkRateContext } from './quotas/link-rate.ts';
import { type Reader, Reading, type ReadingContext } from './reading.ts';
import { TopicAliases } from './topic-aliases.ts';
import { countSent, type TrafficMeter } from './traffic-meter.ts';
import { type TurnHandlers, Turns } from './turns.ts';
import type { CountedUsage, Used } from './usage/link-usage.ts';
import type { FrameViolation } from './web-socket/frame-violation.ts';
import { WebSocket, type WebSocketHandler, type WebSocketOptions } from './web-socket/web-socket.ts';

/** The parts that all links of a node share. */
export interface LinkContext extends ReadingContext, LinkRateContext {
  readonly broker: Broker;
  readonly log: Log;
  readonly flusher: Flusher;
  readonly meter: TrafficMeter;
  readonly limits: LinkLimits;
  readonly webSocket: WebSocketOptions;
  /** Absent: this process serves all of its clients itself. */
  readonly cluster?: LinkCluster | undefined;
  /** Called once, when the network connection is gone. */
  readonly ended: (link: NodeLink) => void;
}

type LinkCluster = Pick<Cluster, 'takeClient' | 'leaveClient' | 'forward'>;

export type LinkLimits = Pick<
  NodeLimits,
  'connectBytesMax' | 'inboundBufferBytesMax' | 'outboundBufferBytesMax'
> & {
  readonly maximumPacketSize: number;
};

/** Traffic of one connection so far. */
export interface LinkTraffic {
  receivedMessages: number;
  receivedBytes: number;
  sentMessages: number;
  /** How many of them had QoS 1, and QoS 2. */
  sentQos1: number;
  sentQos2: number;
  sentBytes: number;
}

/** One WebSocket as the broker sees it. */
export class NodeLink
  implements Link, Reader, InboundHolder, TurnHandlers, WebSocketHandler, Sender, Charged, Used
{
  readonly id: ConnectionId;
  readonly peer: Peer;
  readonly openedAtMs: number;
  readonly traffic: LinkTraffic = {
    ...{ receivedMessages: 0, receivedBytes: 0, sentMessages: 0, sentQos1: 0, sentQos2: 0, sentBytes: 0 },
  };
  counted: CountedUsage | undefined;
  #state: LinkState = { phase: 'new' };
  #tenant: string | undefined;
  readonly #context: LinkContext;
  readonly #socket: WebSocket;
  readonly #outbound: OutboundBuffer;
  readonly #reading: Reading;
  readonly #turns: Turns;
  readonly #rate: LinkRate;
  /** Aliases that the client has set, and aliases set towards it. Made with the first one. */
  #inboundAliases: Map<number, string> | undefined;
  #outboundAliases: TopicAliases | undefined;
  #readers: Map<string, Subscription> | undefined;
  #lastPacketAtMs: number;
  #isClosing = false;
  /** The broker knows that this link takes no more, and waits for `drain`. */
  #drainWanted = false;
  /** Packets wait until the client has read what it was sent. */
  #isStalled = false;
  /** The cluster has not been asked where the client's sessions are. */
  #mayBeElsewhere: boolean;
  readonly #isForwarded: boolean;

  /** @param isForwarded another process has passed the client on to this one */
  constructor(context: LinkContext, id: ConnectionId, peer: Peer, socket: Socket, isForwarded = false) {
    this.id = id;
    this.peer = peer;
    this.#context = context;
    this.#mayBeElsewhere = context.cluster !== undefined;
    this.#isForwarded = isForwarded;
    this.#socket = new WebSocket(socket, context.webSocket, this, this.#mayBeElsewhere && !isForwarded);
    this.#outbound = new OutboundBuffer(socket, context.flusher, this);
    const { limits, scheduler } = context;
    const inbound = new Inbound(limits.maximumPacketSize, limits.connectBytesMax);
    this.#reading = new Reading(context, this, this.#socket, inbound);
    this.#turns = new Turns(inbound, this);
    this.#rate = new LinkRate(context, this);
    this.openedAtMs = scheduler.now();
    this.#lastPacketAtMs = this.openedAtMs;
  }

  /** Handles bytes that came after the handshake in the same chunk. */
  begin(head: Uint8Array): void {
    this.#socket.begin(head);
  }

  get state(): LinkState {
    return this.#state;
  }

  set state(state: LinkState) {
    this.#state = state;
    if (state.phase === 'connected') this.#tenant = state.connection.identity.tenant;
  }

  /** The client's tenant. Undefined before its CONNECT is accepted; kept after its end. */
  get tenant(): string | undefined {
    return this.#tenant;
  }

  get isOpen(): boolean {
    return !this.#isClosing && this.#socket.isOpen;
  }

  get isConnected(): boolean {
    return this.state.phase === 'connected';
  }

  get topicAliases(): Map<number, string> {
    this.#inboundAliases ??= new Map();
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

  get wantsRoom(): boolean {
    return this.#drainWanted || this.#isStalled;
  }

  get hasToWait(): boolean {
    return this.#rate.isWaiting;
  }

  get heldBytes(): number {
    return this.#reading.heldBytes;
  }

  /**
   * Since when the connection has held bytes of its client; a packet that the broker has taken since begins the time
   * anew.
   */
  get heldSinceMs(): number {
    return Math.max(this.#reading.heldSinceMs, this.#lastPacketAtMs);
  }

  /** When the client last sent a packet. Undefined while the broker keeps it waiting. */
  get silentSinceMs(): number | undefined {
    return this.#turns.isBusy || this.#rate.isWaiting ? undefined : this.#lastPacketAtMs;
  }

  /** How long the client has exceeded its identity's rate; 0: it does not. */
  overdraftMs(nowMs: number): number {
    return this.#rate.overdraftMs(nowMs);
  }

  /** False above the limit; `Broker.drain` follows when half of it has left. */
  isReady(): boolean {
    return this.roomBytes() > 0;
  }

  roomBytes(): number {
    const roomBytes = this.#context.limits.outboundBufferBytesMax - this.#outbound.bufferedBytes;
    if (roomBytes <= 0) this.#drainWanted = true;
    return roomBytes;
  }

  /** The aliases set towards this client. Undefined: it is not connected, or allows none. */
  get outboundAliases(): TopicAliases | undefined {
    if (this.state.phase !== 'connected') return undefined;
    // [MQTT-3.1.2-27]
    if (this.state.connection.topicAliasMaximum === 0) return undefined;
    this.#outboundAliases ??= new TopicAliases(this.state.connection.topicAliasMaximum);
    return this.#outboundAliases;
  }

  send(packet: Packet, version: ProtocolVersion): void {
    if (this.isOpen) countSent(this.#context.meter, packet);
    this.push(encodePacket(packet, version));
  }

  /** Sends the bytes of a packet, with its tail if it has one, and with the Packet Identifier `id` at `idAt`. */
  push(packet: Uint8Array, tail?: Uint8Array, idAt?: number, id?: number): void {
    if (!this.isOpen) return;
    this.traffic.sentBytes += packet.length + (tail === undefined ? 0 : tail.length);
    this.#outbound.push(packet, tail, idAt, id);
  }

  close(_endedBy: 'client' | 'server', tryAgainBecause?: string): void {
    if (tryAgainBecause === undefined) this.closeWith(CloseCode.Normal);
    else this.closeWith(CloseCode.TryAgainLater, tryAgainBecause);
  }

  closeWith(code: number, reason = ''): void {
    if (this.#isClosing) return;
    this.#outbound.flush();
    this.#isClosing = true;
    this.#turns.close();
    this.#socket.close(code, reason);
    this.#reading.awaitClose();
  }

  terminate(): void {
    this.#isClosing = true;
    this.#socket.terminate();
  }

  /** Ends the connection for a reason of the server's, after the broker's present work for it. */
  disconnect(reasonCode: number, reason: string): void {
    this.#turns.call(() => this.#context.broker.disconnect(this, reasonCode, reason));
  }

  overload(): void {
    this.#log('inbound-overload', { heldBytes: this.heldBytes });
    this.#reading.stop();
    this.disconnect(ReasonCode.QuotaExceeded, 'Unfinished packets of all clients take too much memory');
  }

  /** Called by `Turns`. */
  handle(packet: Packet | Violation): Awaitable<void> {
    if (this.#mayBeElsewhere) return this.#handleFirst(packet);
    const nowMs = this.#context.scheduler.now();
    this.#lastPacketAtMs = nowMs;
    if ('type' in packet && packet.type === 'publish') this.traffic.receivedMessages += 1;
    this.#charge(packet, nowMs);
    return this.#context.broker.receive(this, packet);
  }

  /** A client whose sessions are at another process is served by that process. */
  #handleFirst(packet: Packet | Violation): Awaitable<void> {
    this.#mayBeElsewhere = false;
    const { cluster } = this.#context;
    const clientId = 'type' in packet && packet.type === 'connect' ? packet.clientId : '';
    if (cluster === undefined || clientId === '') return this.#handleHere(packet);
    return this.#handleAt(cluster, clientId, packet);
  }

  async #handleAt(cluster: LinkCluster, clientId: string, packet: Packet | Violation): Promise<void> {
    let home: string | undefined;
    try {
      home = await cluster.takeClient(clientId);
    } catch {
      // The broker refuses the client: its session cannot be opened here.
      return await this.#handleHere(packet);
    }
    if (home !== undefined && this.isOpen && !this.#isForwarded) return this.#forward(cluster, home);
    try {
      await this.#handleHere(packet);
    } finally {
      if (home === undefined) cluster.leaveClient(clientId);
    }
  }

  #handleHere(packet: Packet | Violation): Awaitable<void> {
    this.#socket.keep();
    return this.handle(packet);
  }

  #forward(cluster: LinkCluster, home: string): void {
    this.#isClosing = true;
    const { peer } = this;
    const forwarded = { peer, ...this.#socket.release() };
    this.#turns.close();
    this.#rate.end();
    this.#reading.end();
    this.#context.ended(this);
    cluster.forward(home, forwarded);
  }

  lost(why: string): Awaitable<void> {
    return this.#context.broker.lost(this, why);
  }

  /** An exception is a defect, or a fault of the infrastructure: it ends this connection alone. */
  failed(error: unknown): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#context.log.error('link-failed', { ...namesOf(this), error: text });
    if (this.state.phase === 'connected' && this.state.connection.protocolVersion === 5) {
      this.send({ type: 'disconnect', reasonCode: ReasonCode.UnspecifiedError, properties: {} }, 5);
    }
    this.closeWith(CloseCode.InternalError);
  }

  /** The node does not read from a client that does not read: the answers would have to wait as well. */
  isStalled(): boolean {
    this.#isStalled = this.#outbound.bufferedBytes >= this.#context.limits.outboundBufferBytesMax;
    return this.#isStalled || this.#rate.isWaiting;
  }

  waiting(): void {
    this.#reading.regulate();
  }

  resumed(): void {
    this.#turns.advance();
  }

  /** Called by the WebSocket. */
  received(bytes: Uint8Array, start: number, end: number): void {
    if (this.#isClosing || this.#reading.isDeaf) return;
    this.traffic.receivedBytes += end - start;
    this.#rate.bytes(end - start, this.#context.scheduler.now());
    this.#turns.push(bytes, start, end);
  }

  violated({ code, reason }: FrameViolation): void {
    // [MQTT-6.0.0-1]
    if (code === CloseCode.UnsupportedData) this.#log('text-frame');
    else this.#log('web-socket-error', { error: reason });
    this.closeWith(code, reason);
  }

  closed(code: number): void {
    this.#context.ended(this);
    this.#rate.end();
    this.#reading.end();
    this.#turns.end(`the WebSocket closed with ${code}`);
  }

  /** Called by the outbound buffer: bytes have left this process. */
  written(): void {
    if (this.#outbound.bufferedBytes >= this.#context.limits.outboundBufferBytesMax / 2) return;
    this.#isStalled = false;
    if (this.#drainWanted && this.isOpen) {
      this.#drainWanted = false;
      this.#turns.call(() => this.#context.broker.drain(this));
    } else this.#turns.advance();
  }

  drainSoon(): void {
    if (this.isOpen) this.#turns.call(() => this.#context.broker.drain(this));
  }

  #charge(packet: Packet | Violation, nowMs: number): void {
    const { state } = this;
    if (state.phase !== 'connected' || !('type' in packet)) return;
    const { identity, session } = state.connection;
    this.#rate.identify(identity, session.clientId);
    this.#rate.packet(packet, nowMs);
  }

  #log(event: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.#context.log.info(event, { ...namesOf(this), ...fields });
  }
}
