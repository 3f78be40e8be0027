import type { Duplex } from 'node:stream';
import type { Broker, ConnectionId, Link, LinkState, Log, Peer } from '@apus/broker';
import { encodePacket, type Packet, type ProtocolVersion, ReasonCode } from '@apus/mqtt';
import { WebSocket } from 'ws';
import { CloseCode } from './close-code.ts';
import { Inbound } from './inbound.ts';
import type { NodeLimits } from './limits.ts';
import { type Flusher, Outbox } from './outbox.ts';
import type { Scheduler } from './scheduler.ts';
import { TopicAliases } from './topic-aliases.ts';
import { Turns } from './turns.ts';
import { frameOf } from './web-socket-frame.ts';

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

export type LinkLimits = Pick<NodeLimits, 'inboundBufferBytesMax' | 'outboundBufferBytesMax'> & {
  readonly maximumPacketSize: number;
};

/** One WebSocket as the broker sees it. */
export class NodeLink implements Link {
  readonly id: ConnectionId;
  readonly peer: Peer;
  state: LinkState = { phase: 'new' };
  readonly topicAliases = new Map<number, string>();
  readonly openedAtMs: number;
  readonly #context: LinkContext;
  readonly #socket: WebSocket;
  readonly #outbox: Outbox;
  readonly #turns: Turns;
  #outboundAliases: TopicAliases | undefined;
  #lastPacketAtMs: number;
  #isClosing = false;
  #isPaused = false;
  /** The broker was told that this link takes no more, and waits to hear that it does again. */
  #drainWanted = false;

  constructor(context: LinkContext, id: ConnectionId, peer: Peer, socket: WebSocket, stream: Duplex) {
    this.id = id;
    this.peer = peer;
    this.#context = context;
    this.#socket = socket;
    this.#outbox = new Outbox(stream, context.flusher, () => this.#written());
    this.#turns = this.#createTurns();
    this.openedAtMs = context.scheduler.now();
    this.#lastPacketAtMs = this.openedAtMs;
    socket.on('message', (data, isBinary) => this.#message(data as Buffer, isBinary));
    socket.on('error', (error) => this.#log('web-socket-error', { error: error.message }));
    socket.on('close', (code) => {
      context.ended(this);
      this.#turns.end(`the WebSocket closed with ${code}`);
    });
  }

  get isOpen(): boolean {
    return !this.#isClosing && this.#socket.readyState === WebSocket.OPEN;
  }

  /** When the client last sent a packet; undefined while it is the broker who keeps it waiting. */
  get silentSinceMs(): number | undefined {
    return this.#turns.isBusy ? undefined : this.#lastPacketAtMs;
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
    this.push(frameOf(encodePacket(packet, version)));
  }

  /** Sends the bytes of WebSocket frames; a frame may be cut between calls. */
  push(bytes: Uint8Array): void {
    if (this.isOpen) this.#outbox.push(bytes);
  }

  close(): void {
    this.closeWith(CloseCode.Normal);
  }

  closeWith(code: number, reason = ''): void {
    if (this.#isClosing) return;
    this.#outbox.flush();
    this.#isClosing = true;
    this.#turns.close();
    this.#socket.close(code, reason);
    // The client's answer to the close has to be read, also from a socket that was paused.
    this.#socket.resume();
  }

  terminate(): void {
    this.#isClosing = true;
    this.#socket.terminate();
  }

  /** Ends the connection for a reason of the server's, in turn with what the broker is doing for it. */
  disconnect(reasonCode: number, reason: string): void {
    this.#turns.call(() => this.#context.broker.disconnect(this, reasonCode, reason));
  }

  #createTurns(): Turns {
    const { broker, limits, scheduler } = this.#context;
    return new Turns(new Inbound(limits.maximumPacketSize), {
      receive: (packet) => {
        this.#lastPacketAtMs = scheduler.now();
        return broker.receive(this, packet);
      },
      lost: (why) => broker.lost(this, why),
      failed: (error) => this.#failed(error),
      // A client that does not read what it is sent is not read from either: the answers would only add to it.
      isStalled: () => this.#outbox.bufferedBytes >= limits.outboundBufferBytesMax,
      waiting: (bytes) => this.#regulate(bytes),
    });
  }

  #message(data: Buffer, isBinary: boolean): void {
    if (this.#isClosing) return;
    if (isBinary) this.#turns.push(data);
    else this.#refuseText();
  }

  /** [MQTT-6.0.0-1] */
  #refuseText(): void {
    this.#log('text-frame');
    this.closeWith(CloseCode.UnsupportedData, 'MQTT needs binary frames');
  }

  /** Stops reading from the socket while too much waits, and starts again when half of it is gone. */
  #regulate(waitingBytes: number): void {
    const { inboundBufferBytesMax } = this.#context.limits;
    if (!this.#isPaused && waitingBytes >= inboundBufferBytesMax) {
      this.#isPaused = true;
      this.#socket.pause();
    } else if (this.#isPaused && waitingBytes < inboundBufferBytesMax / 2) {
      this.#isPaused = false;
      this.#socket.resume();
    }
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
