import type { Duplex } from 'node:stream';
import type { Awaitable, Broker, ConnectionId, Link, LinkState, Log, Peer } from '@apus/broker';
import { encodePacket, type Packet, type ProtocolVersion, ReasonCode } from '@apus/mqtt';
import { WebSocket } from 'ws';
import { CloseCode } from './close-code.ts';
import { Inbound } from './inbound.ts';
import { type Flusher, Outbox } from './outbox.ts';
import type { Scheduler } from './scheduler.ts';
import { TopicAliases } from './topic-aliases.ts';
import { frameOf } from './web-socket-frame.ts';

/** After so many packets of one client, the others have their turn. */
const PACKETS_PER_TURN = 256;

/** What every link of a node shares. */
export interface LinkContext {
  readonly broker: Broker;
  readonly log: Log;
  readonly scheduler: Scheduler;
  readonly flusher: Flusher;
  readonly limits: LinkLimits;
  /** Called once, when the network connection is gone. */
  readonly ended: (link: NodeLink) => void;
}

export interface LinkLimits {
  readonly maximumPacketSize: number;
  readonly inboundBufferBytesMax: number;
  readonly outboundBufferBytesMax: number;
}

/**
 * One WebSocket as the broker sees it. The calls for one link follow one another: while the broker answers at once
 * they are made at once, else what comes waits here, and the socket is paused when too much waits.
 */
export class NodeLink implements Link {
  readonly id: ConnectionId;
  readonly peer: Peer;
  state: LinkState = { phase: 'new' };
  readonly topicAliases = new Map<number, string>();
  readonly openedAtMs: number;
  readonly #context: LinkContext;
  readonly #socket: WebSocket;
  readonly #inbound: Inbound;
  readonly #outbox: Outbox;
  #outboundAliases: TopicAliases | undefined;
  #lastPacketAtMs: number;
  /** The broker has not answered the last call. */
  #busy = false;
  /** Disconnect and drain: they go before the packets that wait. */
  #calls: (() => Awaitable<void>)[] = [];
  #closing = false;
  #paused = false;
  #continues = false;
  #drainWanted = false;
  #lostBecause: string | undefined;

  constructor(context: LinkContext, id: ConnectionId, peer: Peer, socket: WebSocket, stream: Duplex) {
    this.id = id;
    this.peer = peer;
    this.#context = context;
    this.#socket = socket;
    this.#inbound = new Inbound(context.limits.maximumPacketSize);
    this.#outbox = new Outbox(stream, context.flusher, () => this.#written());
    this.openedAtMs = context.scheduler.now();
    this.#lastPacketAtMs = this.openedAtMs;
    socket.on('message', (data, isBinary) => this.#message(data as Buffer, isBinary));
    socket.on('close', (code) => this.#lost(`the WebSocket closed with ${code}`));
    socket.on('error', (error) => this.#socketFailed(error));
  }

  get isOpen(): boolean {
    return !this.#closing && this.#socket.readyState === WebSocket.OPEN;
  }

  /** When the client last sent a packet; undefined while it is the broker who keeps it waiting. */
  get silentSinceMs(): number | undefined {
    return this.#busy ? undefined : this.#lastPacketAtMs;
  }

  /** False above the limit; `Broker.drain` follows when half of it has left. */
  isReady(): boolean {
    if (this.#outbox.bufferedBytes < this.#context.limits.outboundBufferBytesMax) return true;
    this.#drainWanted = true;
    return false;
  }

  roomBytes(): number {
    return this.isReady() ? this.#context.limits.outboundBufferBytesMax - this.#outbox.bufferedBytes : 0;
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
    this.push(frameOf(encodePacket(packet, version)));
  }

  /** Sends the bytes of WebSocket frames, which may be cut anywhere between calls. */
  push(bytes: Uint8Array): void {
    if (this.isOpen) this.#outbox.push(bytes);
  }

  close(): void {
    this.closeWith(CloseCode.Normal);
  }

  closeWith(code: number, reason = ''): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#inbound.clear();
    this.#outbox.flush();
    this.#socket.close(code, reason);
    // The answer to the close must be read, whatever else stands before it.
    this.#socket.resume();
  }

  terminate(): void {
    this.#closing = true;
    this.#socket.terminate();
  }

  /** Ends the connection for a reason of the server's, in turn with what the broker is doing for it. */
  disconnect(reasonCode: number, reason: string): void {
    this.#calls.push(() => this.#context.broker.disconnect(this, reasonCode, reason));
    this.#advance();
  }

  #message(data: Buffer, isBinary: boolean): void {
    if (this.#closing) return;
    if (!isBinary) {
      this.#context.log.info('text-frame', { connection: this.id, peer: this.peer.address });
      // [MQTT-6.0.0-1]
      this.closeWith(CloseCode.UnsupportedData, 'MQTT needs binary frames');
      return;
    }
    this.#inbound.push(data);
    this.#advance();
  }

  #advance(): void {
    for (let left = PACKETS_PER_TURN; left > 0; left -= 1) {
      if (!this.#step()) {
        this.#regulate();
        return;
      }
    }
    this.#regulate();
    this.#continueLater();
  }

  /** Makes the next call on the broker. False when there is none, or none may be made now. */
  #step(): boolean {
    if (this.#busy) return false;
    const call = this.#calls.shift();
    if (call !== undefined) {
      this.#run(call);
      return true;
    }
    if (this.#isStalled()) return false;
    const packet = this.#closing ? undefined : this.#inbound.next();
    if (packet !== undefined) {
      this.#lastPacketAtMs = this.#context.scheduler.now();
      this.#run(() => this.#context.broker.receive(this, packet));
      return true;
    }
    return this.#finish();
  }

  /** A client that does not read what it is sent is not read from either: its own packets would add to it. */
  #isStalled(): boolean {
    if (this.#lostBecause !== undefined) return false;
    return this.#outbox.bufferedBytes >= this.#context.limits.outboundBufferBytesMax;
  }

  /** The end of the connection is told behind the packets that came before it: a DISCONNECT may be among them. */
  #finish(): boolean {
    const why = this.#lostBecause;
    if (why === undefined) return false;
    this.#lostBecause = undefined;
    this.#run(() => this.#context.broker.lost(this, why));
    return false;
  }

  #run(call: () => Awaitable<void>): void {
    this.#busy = true;
    try {
      const answer = call();
      if (answer instanceof Promise) {
        answer.then(
          () => this.#settled(),
          (error: unknown) => this.#failed(error),
        );
        return;
      }
      this.#busy = false;
    } catch (error) {
      this.#failed(error);
    }
  }

  #settled(): void {
    this.#busy = false;
    this.#advance();
  }

  /** An exception is a bug or the infrastructure: it ends this connection and no other. */
  #failed(error: unknown): void {
    this.#busy = false;
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#context.log.error('link-failed', { connection: this.id, peer: this.peer.address, error: reason });
    if (this.state.phase === 'connected' && this.state.connection.protocolVersion === 5) {
      this.send({ type: 'disconnect', reasonCode: ReasonCode.UnspecifiedError, properties: {} }, 5);
    }
    this.closeWith(CloseCode.InternalError);
    this.#advance();
  }

  #continueLater(): void {
    if (this.#continues) return;
    this.#continues = true;
    setImmediate(() => {
      this.#continues = false;
      this.#advance();
    });
  }

  /** Stops reading from the socket while too much waits, and starts again when half of it is gone. */
  #regulate(): void {
    const { inboundBufferBytesMax } = this.#context.limits;
    if (!this.#paused && this.#inbound.bytes >= inboundBufferBytesMax) {
      this.#paused = true;
      this.#socket.pause();
    } else if (this.#paused && this.#inbound.bytes < inboundBufferBytesMax / 2) {
      this.#paused = false;
      this.#socket.resume();
    }
  }

  #written(): void {
    if (this.#outbox.bufferedBytes >= this.#context.limits.outboundBufferBytesMax / 2) return;
    if (this.#drainWanted) {
      this.#drainWanted = false;
      this.#calls.push(() => this.#context.broker.drain(this));
    }
    if (this.#calls.length > 0 || this.#inbound.bytes > 0) this.#advance();
  }

  #socketFailed(error: Error & { code?: string }): void {
    this.#context.log.info('web-socket-error', {
      connection: this.id,
      peer: this.peer.address,
      code: error.code,
      error: error.message,
    });
  }

  #lost(why: string): void {
    this.#lostBecause = why;
    this.#context.ended(this);
    this.#advance();
  }
}
