import type { ConnectionId, Log } from '@apus/broker';
import type { Frame } from '../frames/frame.ts';
import { PacketSequence } from '../frames/packet-sequence.ts';
import { type Meter, NO_METER } from '../metrics/meter.ts';
import { METRICS } from '../metrics/metric-names.ts';
import type { Poster, PostOutcome } from './poster.ts';

/** Connections that are posted to at the same time. More would only queue in front of the sockets. */
export const PARALLEL_POSTS_MAX = 64;

export interface FailedPost {
  readonly connectionId: ConnectionId;
  readonly outcome: Exclude<PostOutcome, 'sent'>;
  /** More than QoS 0 messages is missing. */
  readonly isLoss: boolean;
  /** Packets that did not arrive, as far as it is known. */
  readonly packets: number;
}

/** Posts in a way of its own, and deals with failures itself. */
export interface Carrier {
  /** Never rejects. May resolve while some connections are still tried again. */
  post(bag: ReadonlyMap<ConnectionId, PacketSequence>): Promise<void>;
  /** Whether something that it was given for this connection has not left yet, or the connection is to be closed for that. */
  holds(connectionId: ConnectionId): boolean;
  /** Resolves when that has left; or the connection is closed, as it never will; or the time is out. */
  settle(connectionId: ConnectionId): Promise<void>;
}

/**
 * What is to be posted when the frame has been handled. All packets for one connection leave in as few posts as they
 * fit into, one after another, which keeps their order; connections are served side by side.
 */
export class Postbag {
  readonly #poster: Poster;
  readonly #log: Log;
  readonly #meter: Meter;
  #nothing = new PacketSequence();
  #connections = new Map<ConnectionId, PacketSequence>();
  /** What is being posted, or about to be. */
  readonly #leaving = new Set<ReadonlyMap<ConnectionId, PacketSequence>>();
  /** Fulfilled when everything has left, or failed, that was to leave before. */
  #hasLeft: Promise<void> = Promise.resolve();
  #carrier: Carrier | undefined;
  /** What the next flush tells. */
  readonly #failed: FailedPost[] = [];

  constructor(poster: Poster, log: Log, meter: Meter = NO_METER) {
    this.#poster = poster;
    this.#log = log;
    this.#meter = meter;
  }

  push(connectionId: ConnectionId, packet: Uint8Array, mustArrive: boolean): void {
    if (this.#hasGap(connectionId)) return;
    const before = this.#connections.get(connectionId) ?? this.#nothing;
    this.#connections.set(connectionId, before.with(packet, mustArrive));
  }

  /** From now on `carrier` posts what is gathered; undefined: the postbag does so itself, as at the beginning. */
  carryBy(carrier: Carrier | undefined): void {
    this.#carrier = carrier;
  }

  /** Gathered, or under way. */
  holds(connectionId: ConnectionId): boolean {
    return (
      this.#connections.has(connectionId) ||
      [...this.#leaving].some((taken) => taken.has(connectionId)) ||
      this.#carrier?.holds(connectionId) === true
    );
  }

  /** Closes a connection with the next flush, as its delivery state is unknown. */
  fail(connectionId: ConnectionId): FailedPost {
    const known = this.failureOf(connectionId);
    if (known !== undefined) return known;
    const failure: FailedPost = { connectionId, outcome: 'failed', isLoss: true, packets: 1 };
    this.#connections.delete(connectionId);
    this.#failed.push(failure);
    return failure;
  }

  /** What the next flush will tell of this connection. */
  failureOf(connectionId: ConnectionId): FailedPost | undefined {
    return this.#failed.find((failure) => failure.connectionId === connectionId);
  }

  /** Posts everything, and waits until this connection has been sent all of its own, as far as it can be. */
  async flushAhead(connectionId: ConnectionId): Promise<void> {
    await this.post();
    await this.#carrier?.settle(connectionId);
  }

  /** Posts everything and waits for it. Returns the connections that did not get all of theirs. */
  async flush(): Promise<FailedPost[]> {
    await this.post();
    return this.#failed.splice(0);
  }

  /**
   * Posts everything; failures are told by the next `flush`.
   *
   * Several sessions of one frame may ask for it at the same time. Each waits for what another has taken along of its
   * own, and a connection's later packets wait for its earlier ones:
   *
   *     session A: its queue fills         session B: its queue fills
   *     takes what is gathered for A and B
   *                                        finds nothing to take, and yet nothing may join its queue
   *     has posted it
   *                                        goes on
   */
  post(): Promise<void> {
    if (this.#connections.size === 0) return this.#hasLeft;
    const taken = this.#take();
    const carrier = this.#carrier;
    this.#leaving.add(taken);
    const posted = this.#hasLeft
      .then(() => (carrier === undefined ? this.#postTo(taken) : carrier.post(taken)))
      .finally(() => this.#leaving.delete(taken));
    this.#hasLeft = posted.catch(() => {});
    return posted;
  }

  #take(): ReadonlyMap<ConnectionId, PacketSequence> {
    const taken = this.#connections;
    this.#connections = new Map();
    this.#nothing = new PacketSequence();
    return taken;
  }

  async #postTo(taken: ReadonlyMap<ConnectionId, PacketSequence>): Promise<void> {
    const waiting = taken.entries();
    const serve = async () => {
      for (const [connectionId, packets] of waiting) {
        if (this.#hasGap(connectionId)) continue;
        const failure = await this.#deliver(connectionId, packets);
        if (failure === undefined) continue;
        this.#failed.push(failure);
        this.#log.info('post-failed', { ...failure });
      }
    };
    await Promise.all(Array.from({ length: PARALLEL_POSTS_MAX }, serve));
  }

  /** What would come behind a gap waits for the client's return. */
  #hasGap(connectionId: ConnectionId): boolean {
    return this.#failed.some((failure) => failure.connectionId === connectionId && failure.isLoss);
  }

  /** After a failure nothing more: what comes behind it would come in the wrong order. */
  async #deliver(connectionId: ConnectionId, packets: PacketSequence): Promise<FailedPost | undefined> {
    const frames = packets.frames();
    for (const [index, frame] of frames.entries()) {
      const outcome = await this.#poster.post(connectionId, frame, frame.mustArrive);
      if (outcome !== 'sent') return failureOf(connectionId, outcome, frames.slice(index));
      this.#meter.add(METRICS.messagesOut, frame.publishes);
    }
    return undefined;
  }
}

function failureOf(
  connectionId: ConnectionId,
  outcome: FailedPost['outcome'],
  missing: readonly Frame[],
): FailedPost {
  const packets = missing.reduce((sum, frame) => sum + frame.packets, 0);
  return { connectionId, outcome, isLoss: missing.some(({ mustArrive }) => mustArrive), packets };
}
