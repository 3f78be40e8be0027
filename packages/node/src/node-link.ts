import type { Socket } from 'node:net';
import {
  type Awaitable,
  type ConnectionId,
  type Link,
  type LinkState,
  namesOf,
  type Peer,
  PublishOrder,
  quotaHolderKey,
  quotaHolderOf,
  type Subscription,
  steadyNow,
} from '@apus/broker';
import {
  ClientTopicAliases,
  CloseCode,
  type CountedUsage,
  countSent,
  Inbound,
  type LinkTraffic,
  TopicAliases,
  type TurnHandlers,
  Turns,
  type Used,
} from '@apus/door';
import { encodePacket, type Packet, type ProtocolVersion, ReasonCode, type Violation } from '@apus/mqtt';
import { atHome } from './at-home.ts';
import type { BytesHolder } from './bytes-budget.ts';
import type { LinkCluster, LinkContext } from './link-context.ts';
import { stackOf } from './log.ts';
import type { Turn } from './long-work.ts';
import { OutboundBuffer, type Sender } from './outbound-buffer.ts';
import { type Charged, LinkRate } from './quotas/link-rate.ts';
import { type Reader, Reading } from './reading.ts';
import { TcpStream } from './tcp-stream.ts';
import type { Transport, Wire } from './transport.ts';
import type { FrameViolation } from './web-socket/frame-violation.ts';
import { WebSocket, type WebSocketHandler } from './web-socket/web-socket.ts';

/** Bytes before CONNECT beside those of MQTT: frames, and pings. */
const AROUND_CONNECT_BYTES_MAX = 16 * 1024;

/** One client's connection as the broker sees it. */
export class NodeLink
  implements Link, Reader, BytesHolder, TurnHandlers, WebSocketHandler, Sender, Charged, Used
{
  readonly id: ConnectionId;
  readonly peer: Peer;
  readonly openedAtMs: number;
  readonly outbound: OutboundBuffer;
  readonly publishOrder: PublishOrder | undefined;
  readonly traffic: LinkTraffic = {
    ...{ receivedMessages: 0, receivedBytes: 0, sentMessages: 0, sentQos1: 0, sentQos2: 0, sentBytes: 0 },
  };
  counted: CountedUsage | undefined;
  #state: LinkState = { phase: 'new' };
  #tenant: string | undefined;
  readonly #context: LinkContext;
  readonly #transport: Transport;
  readonly #reading: Reading;
  readonly #turns: Turns;
  readonly #rate: LinkRate;
  /** Aliases that the client has set, and aliases set towards it. Made with the first one. */
  #inboundAliases: ClientTopicAliases | undefined;
  #outboundAliases: TopicAliases | undefined;
  #readers: Map<string, Subscription> | undefined;
  #lastPacketAtMs: number;
  #isClosing = false;
  /** The network connection is gone. Packets that came before its end may still wait for the broker. */
  #isGone = false;
  #hasEnded = false;
  /** The broker knows that this link takes no more, and waits for `drain`. */
  #drainWanted = false;
  /** The link waits for its turn to go on with long work. */
  #turn: Turn | undefined;
  /** Packets wait until the client has read what it was sent. */
  #isStalled = false;
  /** The cluster has not been asked where the client's sessions are. */
  #mayBeElsewhere: boolean;
  readonly #isForwarded: boolean;

  /**
   * @param wire how the client's packets come over the socket
   * @param isForwarded another process has passed the client on to this one
   */
  constructor(
    context: LinkContext,
    id: ConnectionId,
    peer: Peer,
    socket: Socket,
    wire: Wire,
    isForwarded = false,
  ) {
    this.id = id;
    this.peer = peer;
    this.#context = context;
    this.#mayBeElsewhere = context.cluster !== undefined;
    this.publishOrder = context.acceptsAhead ? new PublishOrder() : undefined;
    this.#isForwarded = isForwarded;
    const Transport = wire === 'tcp' ? TcpStream : WebSocket;
    this.#transport = new Transport(socket, context.transport, this, this.#mayBeElsewhere && !isForwarded);
    this.outbound = new OutboundBuffer(socket, context, this, wire);
    const { limits, scheduler } = context;
    const inbound = new Inbound(limits.maximumPacketSize, limits.connectBytesMax);
    this.#reading = new Reading(context, this, this.#transport, inbound);
    this.#turns = new Turns(inbound, this, scheduler);
    this.#rate = new LinkRate(context, this);
    this.openedAtMs = steadyNow(scheduler);
    this.#lastPacketAtMs = this.openedAtMs;
  }

  /** Handles bytes that came after the handshake in the same chunk. */
  begin(head: Uint8Array): void {
    this.#transport.begin(head);
  }

  get state(): LinkState {
    return this.#state;
  }

  set state(state: LinkState) {
    const { phase } = this.#state;
    this.#state = state;
    if (state.phase !== 'connected') return;
    this.#tenant = state.connection.identity.tenant;
    if (phase !== 'connected') this.#context.places.establish(this.#transport.socket);
  }

  /** The client's tenant. Undefined before its CONNECT is accepted; kept after its end. */
  get tenant(): string | undefined {
    return this.#tenant;
  }

  get isOpen(): boolean {
    return !this.#isClosing && this.#transport.isOpen;
  }

  get isConnected(): boolean {
    return this.state.phase === 'connected';
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

  get wantsRoom(): boolean {
    return this.#drainWanted || this.#isStalled;
  }

  get hasToWait(): boolean {
    return this.#rate.isWaiting;
  }

  get heldBytes(): number {
    return this.#reading.heldBytes;
  }

  /** Since when it has held bytes of its client. A packet that the broker takes begins the time anew. */
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

  /** `Broker.drain` follows when half of what waits has left. */
  isReady(): boolean {
    return this.roomBytes() > 0;
  }

  roomBytes(): number {
    const { roomBytes } = this.outbound;
    if (roomBytes <= 0) this.#drainWanted = true;
    return roomBytes;
  }

  /** The aliases set towards this client. Undefined: it is not connected, or allows none. */
  get outboundAliases(): TopicAliases | undefined {
    if (this.state.phase !== 'connected') return undefined;
    // [MQTT-3.1.2-27]
    if (this.state.connection.topicAliasMaximum === 0) return undefined;
    this.#outboundAliases ??= new TopicAliases(this.state.connection.topicAliasMaximum, this.#context.memory);
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
    this.outbound.push(packet, tail, idAt, id);
  }

  close(_endedBy: 'client' | 'server', tryAgainBecause?: string): void {
    if (tryAgainBecause === undefined) this.closeWith(CloseCode.Normal);
    else this.closeWith(CloseCode.TryAgainLater, tryAgainBecause);
  }

  closeWith(code: number, reason = ''): void {
    if (this.#isClosing) return;
    this.outbound.flush();
    this.#isClosing = true;
    this.#turns.close();
    this.#transport.close(code, reason);
    this.#reading.awaitClose();
    if (this.#isGone) this.#end();
  }

  terminate(): void {
    this.#isClosing = true;
    this.#transport.terminate();
    if (this.#isGone) this.#end();
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
  handle(packet: Packet | Violation, nowMs: number): Awaitable<void> {
    if (this.#mayBeElsewhere) return this.#handleFirst(packet, nowMs);
    this.#lastPacketAtMs = nowMs;
    if ('type' in packet && packet.type === 'publish') this.traffic.receivedMessages += 1;
    this.#charge(packet, nowMs);
    return this.#context.broker.receive(this, packet);
  }

  goOn(): void {
    this.#turns.goOn();
  }

  /** A client whose sessions are at another process is served by that process. */
  #handleFirst(packet: Packet | Violation, nowMs: number): Awaitable<void> {
    this.#mayBeElsewhere = false;
    const { cluster } = this.#context;
    const clientId = 'type' in packet && packet.type === 'connect' ? packet.clientId : '';
    const serve = () => {
      this.#transport.keep();
      return this.handle(packet, nowMs);
    };
    if (cluster === undefined || clientId === '') return serve();
    return atHome(cluster, clientId, serve, (home) => this.#forward(cluster, home));
  }

  /** False: the client stays here. */
  #forward(cluster: LinkCluster, home: string): boolean {
    if (!this.isOpen || this.#isForwarded) return false;
    this.#isClosing = true;
    // From here on it is pending at the other process, which cuts it there.
    this.#context.places.establish(this.#transport.socket);
    const forwarded = { peer: this.peer, wire: this.#transport.wire, ...this.#transport.release() };
    this.#end();
    cluster.forward(home, forwarded);
    return true;
  }

  lost(why: string): Awaitable<void> {
    this.#end();
    return this.#context.broker.lost(this, why);
  }

  /** An exception is a defect, or a fault of the infrastructure: it ends this connection alone. */
  failed(error: unknown): void {
    this.#context.log.error('link-failed', { ...namesOf(this), error: stackOf(error) });
    if (this.state.phase === 'connected' && this.state.connection.protocolVersion === 5) {
      this.send({ type: 'disconnect', reasonCode: ReasonCode.UnspecifiedError, properties: {} }, 5);
    }
    this.closeWith(CloseCode.InternalError);
  }

  /** The node does not read from a client that does not read: the answers would have to wait as well. */
  isStalled(): boolean {
    this.#isStalled = this.outbound.roomBytes <= 0;
    return this.#isStalled || this.#rate.isWaiting;
  }

  waiting(): void {
    this.#reading.regulate();
  }

  resumed(): void {
    this.#turns.advance();
  }

  /** Called by the transport. The bytes around those of MQTT count, too: before CONNECT they have a limit [SEC-WORK-3]. */
  arrived(bytes: number): void {
    const isTooMuch = this.#rate.arrived(bytes) > AROUND_CONNECT_BYTES_MAX;
    if (isTooMuch && this.#state.phase === 'new')
      this.closeWith(CloseCode.PolicyViolation, 'too many frames before CONNECT');
  }

  received(bytes: Uint8Array, start: number, end: number): void {
    if (this.#isClosing || this.#reading.isDeaf) return;
    this.traffic.receivedBytes += end - start;
    this.#rate.received(end - start);
    this.#turns.push(bytes, start, end);
  }

  violated({ code, reason }: FrameViolation): void {
    // [MQTT-6.0.0-1]
    if (code === CloseCode.UnsupportedData) this.#log('text-frame');
    else this.#log('web-socket-error', { error: reason });
    this.closeWith(code, reason);
  }

  closed(why: string): void {
    this.#isGone = true;
    this.outbound.end();
    this.#rate.end();
    if (this.#turn !== undefined) this.#context.longWork.delete(this.#turn);
    this.#turns.end(why);
    if (this.#isClosing) this.#end();
  }

  /** Counted until here: what its client has sent may wait long for a hook, a disk or an engine [SEC-MEMORY-10]. */
  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#context.ended(this);
    this.#turns.close();
    this.#reading.end();
    this.#inboundAliases?.release();
    this.#outboundAliases?.release();
  }

  /** Called by the outbound buffer: what all clients have not read is too much, and this one has to give its part back. */
  overflowed(heldBytes: number): void {
    this.#log('outbound-overload', { heldBytes });
    this.terminate();
  }

  /** Called by the outbound buffer: bytes have left this process. */
  written(): void {
    if (!this.outbound.isHalfEmpty) return;
    this.#isStalled = false;
    if (this.#drainWanted && this.isOpen) {
      this.#drainWanted = false;
      this.#turns.call(() => this.#context.broker.drain(this));
    } else this.#turns.advance();
  }

  takeTurn(): void {
    if (this.state.phase !== 'connected') return;
    const { identity, session } = this.state.connection;
    this.#turn = () => {
      this.#turn = undefined;
      this.drainSoon();
    };
    this.#context.longWork.add(this.#turn, quotaHolderKey(quotaHolderOf(identity, session.clientId)));
  }

  get waitsForTurn(): boolean {
    return this.#turn !== undefined;
  }

  drainSoon(): void {
    if (this.isOpen) this.#turns.call(() => this.#context.broker.drain(this));
  }

  #charge(packet: Packet | Violation, nowMs: number): void {
    if (this.#state.phase !== 'connected' || !('type' in packet)) return;
    const { identity, session } = this.#state.connection;
    this.#rate.identify(identity, session.clientId);
    this.#rate.packet(packet, nowMs);
  }

  #log(event: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.#context.log.info(event, { ...namesOf(this), ...fields });
  }
}
