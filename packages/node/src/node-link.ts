import type { Duplex } from 'node:stream';
import type { Broker, ConnectionId, Link, LinkState, Log, Peer, Subscription } from '@apus/broker';
import { encodePacket, type Packet, type ProtocolVersion, ReasonCode, type Violation } from '@apus/mqtt';
import { WebSocket } from 'ws';
import { CloseCode } from './close-code.ts';
import { Inbound } from './inbound.ts';
import type { InboundBudget, InboundHolder } from './inbound-budget.ts';
import type { NodeLimits } from './limits.ts';
import { type Flusher, Outbox } from './outbox.ts';
import { LinkRate } from './quotas/link-rate.ts';
import type { RateQuota } from './quotas/rate-quota.ts';
import type { Throttle } from './quotas/throttle.ts';
import { type Reader, Reading } from './reading.ts';
import type { Scheduler } from './scheduler.ts';
import { TopicAliases } from './topic-aliases.ts';
import { Turns } from './turns.ts';

/** The parts that all links of a node share. */
export interface LinkContext {
  readonly broker: Broker;
  readonly log: Log;
  readonly scheduler: Scheduler;
  readonly flusher: Flusher;
  readonly inboundBudget: InboundBudget;
  readonly limits: LinkLimits;
  readonly rateQuota: RateQuota;
  readonly throttle: Throttle;
  /** Called once, when the network connection is gone. */
  readonly ended: (link: NodeLink) => void;
}

export type LinkLimits = Pick<
  NodeLimits,
  'connectBytesMax' | 'inboundBufferBytesMax' | 'outboundBufferBytesMax'
> & {
  readonly maximumPacketSize: number;
};

/** Traffic of one connection so far, for its operator. */
export interface LinkTraffic {
  receivedMessages: number;
  receivedBytes: number;
  sentMessages: number;
  sentBytes: number;
}

/** One WebSocket as the broker sees it. */
export class NodeLink implements Link, Reader, InboundHolder {
  readonly id: ConnectionId;
  readonly peer: Peer;
  state: LinkState = { phase: 'new' };
  readonly topicAliases = new Map<number, string>();
  readonly readers: Map<string, Subscription> = new Map();
  readonly openedAtMs: number;
  readonly traffic: LinkTraffic = { receivedMessages: 0, receivedBytes: 0, sentMessages: 0, sentBytes: 0 };
  readonly #context: LinkContext;
  readonly #socket: WebSocket;
  readonly #outbox: Outbox;
  readonly #reading: Reading;
  readonly #turns: Turns;
  readonly #rate: LinkRate;
  #outboundAliases: TopicAliases | undefined;
  #lastPacketAtMs: number;
  #isClosing = false;
  /** The broker was told that this link takes no more, and waits to hear that it does again. */
  #drainWanted = false;

  constructor(context: LinkContext, id: ConnectionId, peer: Peer, socket: WebSocket, stream: Duplex) {
    this.id = id;
    this.peer = peer;
    this.#context = context;
    this.#socket = socket;
    this.#outbox = new Outbox(stream, context.flusher, () => this.#written());
    const { limits, scheduler, inboundBudget: budget } = context;
    const inbound = new Inbound(limits.maximumPacketSize, limits.connectBytesMax);
    this.#reading = new Reading({ limits, budget, scheduler }, this, socket, inbound);
    this.#turns = this.#createTurns(inbound);
    this.#rate = new LinkRate({
      quota: context.rateQuota,
      throttle: context.throttle,
      resumed: () => this.#turns.advance(),
    });
    this.openedAtMs = context.scheduler.now();
    this.#lastPacketAtMs = this.openedAtMs;
    socket.on('message', (data, isBinary) => this.#message(data as Buffer, isBinary));
    socket.on('error', (error) => this.#log('web-socket-error', { error: error.message }));
    // Ahead of `ws`, which removes the mask from the bytes in their place.
    stream.prependListener('data', (chunk: Uint8Array) => this.#reading.push(chunk));
    socket.on('close', (code) => {
      context.ended(this);
      this.#rate.end();
      this.#reading.end();
      this.#turns.end(`the WebSocket closed with ${code}`);
    });
  }

  get isOpen(): boolean {
    return !this.#isClosing && this.#socket.readyState === WebSocket.OPEN;
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  get isConnected(): boolean {
    return this.state.phase === 'connected';
  }

  get hasToWait(): boolean {
    return this.#rate.isWaiting;
  }

  get heldBytes(): number {
    return this.#reading.heldBytes;
  }

  /** A packet that was taken since shows that the client goes on. */
  get heldSinceMs(): number {
    return Math.max(this.#reading.heldSinceMs, this.#lastPacketAtMs);
  }

  /** When the client last sent a packet; undefined while it is the broker who keeps it waiting. */
  get silentSinceMs(): number | undefined {
    return this.#turns.isBusy || this.#rate.isWaiting ? undefined : this.#lastPacketAtMs;
  }

  /** How long the client has been sending more than its identity may; 0: it is not. */
  overdraftMs(nowMs: number): number {
    return this.#rate.overdraftMs(nowMs);
  }

  /** False above the limit; `Broker.drain` follows when half of it has left. */
  isReady(): boolean {
    return this.roomBytes() > 0;
  }

  roomBytes(): number {
    const roomBytes = this.#context.limits.outboundBufferBytesMax - this.#outbox.bufferedBytes;
    if (roomBytes <= 0) this.#drainWanted = true;
    return roomBytes;
  }

  /** The aliases we set towards this client; undefined while it is not connected or allows none. */
  get outboundAliases(): TopicAliases | undefined {
    if (this.state.phase !== 'connected') return undefined;
    // [MQTT-3.1.2-27]
    if (this.state.connection.topicAliasMaximum === 0) return undefined;
    this.#outboundAliases ??= new TopicAliases(this.state.connection.topicAliasMaximum);
    return this.#outboundAliases;
  }

  send(packet: Packet, version: ProtocolVersion): void {
    this.push(encodePacket(packet, version));
  }

  /** Sends the bytes of a packet, with the tail that all its recipients share, if it has one. */
  push(packet: Uint8Array, tail?: Uint8Array): void {
    if (!this.isOpen) return;
    this.traffic.sentBytes += packet.length + (tail?.length ?? 0);
    this.#outbox.push(packet, tail);
  }

  close(_endedBy: 'client' | 'server', tryAgainBecause?: string): void {
    if (tryAgainBecause === undefined) this.closeWith(CloseCode.Normal);
    else this.closeWith(CloseCode.TryAgainLater, tryAgainBecause);
  }

  closeWith(code: number, reason = ''): void {
    if (this.#isClosing) return;
    this.#outbox.flush();
    this.#isClosing = true;
    this.#turns.close();
    this.#socket.close(code, reason);
    this.#reading.awaitClose();
  }

  terminate(): void {
    this.#isClosing = true;
    this.#socket.terminate();
  }

  /** Ends the connection for a reason of the server's, in turn with what the broker is doing for it. */
  disconnect(reasonCode: number, reason: string): void {
    this.#turns.call(() => this.#context.broker.disconnect(this, reasonCode, reason));
  }

  refuse(violation: Violation): void {
    this.#turns.call(() => this.#context.broker.receive(this, violation));
  }

  overload(): void {
    this.#log('inbound-overload', { heldBytes: this.heldBytes });
    this.#reading.stop();
    this.disconnect(ReasonCode.QuotaExceeded, 'What clients have begun to send takes too much memory');
  }

  #createTurns(inbound: Inbound): Turns {
    const { broker, limits, scheduler } = this.#context;
    return new Turns(inbound, {
      receive: (packet) => {
        this.#lastPacketAtMs = scheduler.now();
        if ('type' in packet && packet.type === 'publish') this.traffic.receivedMessages += 1;
        this.#charge(packet, this.#lastPacketAtMs);
        return broker.receive(this, packet);
      },
      lost: (why) => broker.lost(this, why),
      failed: (error) => this.#failed(error),
      // The node does not read from a client that does not read: the answers would only wait as well.
      isStalled: () => this.#rate.isWaiting || this.#outbox.bufferedBytes >= limits.outboundBufferBytesMax,
      waiting: (bytes) => this.#reading.regulate(bytes),
    });
  }

  #message(data: Buffer, isBinary: boolean): void {
    if (this.#isClosing) return;
    if (!isBinary) {
      this.#refuseText();
      return;
    }
    this.traffic.receivedBytes += data.length;
    this.#rate.bytes(data.length, this.#context.scheduler.now());
    this.#turns.push(data);
  }

  #charge(packet: Packet | Violation, nowMs: number): void {
    const { state } = this;
    if (state.phase !== 'connected' || !('type' in packet)) return;
    const { identity, session } = state.connection;
    this.#rate.identify(identity, session.clientId);
    this.#rate.packet(packet, nowMs);
  }

  /** [MQTT-6.0.0-1] */
  #refuseText(): void {
    this.#log('text-frame');
    this.closeWith(CloseCode.UnsupportedData, 'MQTT needs binary frames');
  }

  #written(): void {
    if (this.#outbox.bufferedBytes >= this.#context.limits.outboundBufferBytesMax / 2) return;
    if (this.#drainWanted && this.isOpen) {
      this.#drainWanted = false;
      this.#turns.call(() => this.#context.broker.drain(this));
    } else this.#turns.advance();
  }

  /** An exception is a bug or the infrastructure: it ends this connection and no other. */
  #failed(error: unknown): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#context.log.error('link-failed', { ...this.#names(), error: text });
    if (this.state.phase === 'connected' && this.state.connection.protocolVersion === 5) {
      this.send({ type: 'disconnect', reasonCode: ReasonCode.UnspecifiedError, properties: {} }, 5);
    }
    this.closeWith(CloseCode.InternalError);
  }

  #log(event: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.#context.log.info(event, { ...this.#names(), ...fields });
  }

  #names(): { connectionId: ConnectionId; address: string } {
    return { connectionId: this.id, address: this.peer.address };
  }
}
