import type { ConnectionId, Log } from '@apus/broker';
import type { Frame } from './frame.ts';
import { METRICS } from './lambda/metric-names.ts';
import { type Meter, NO_METER } from './meter.ts';
import { PacketSequence } from './packet-sequence.ts';
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
  /** What failed ahead of the flush. */
  readonly #failed: FailedPost[] = [];

  constructor(poster: Poster, log: Log, meter: Meter = NO_METER) {
    this.#poster = poster;
    this.#log = log;
    this.#meter = meter;
  }

  push(connectionId: ConnectionId, packet: Uint8Array, mustArrive: boolean): void {
    // What would come behind a gap waits for the client's return.
    if (this.#failed.some((failure) => failure.connectionId === connectionId && failure.isLoss)) return;
    const before = this.#connections.get(connectionId) ?? this.#nothing;
    this.#connections.set(connectionId, before.with(packet, mustArrive));
  }

  holds(connectionId: ConnectionId): boolean {
    return this.#connections.has(connectionId);
  }

  /** This connection is to be ended with the next flush: what it was sent, and whether, nobody knows. */
  fail(connectionId: ConnectionId): void {
    if (this.#failed.some((failure) => failure.connectionId === connectionId)) return;
    this.#connections.delete(connectionId);
    this.#failed.push({ connectionId, outcome: 'failed', isLoss: true, packets: 1 });
  }

  /** Takes everything, for whoever posts it in a way of its own. */
  take(): ReadonlyMap<ConnectionId, PacketSequence> {
    const taken = this.#connections;
    this.#connections = new Map();
    this.#nothing = new PacketSequence();
    return taken;
  }

  /** Posts everything; failures are told by the next `flush`. */
  async flushAhead(): Promise<void> {
    this.#failed.push(...(await this.#postAll()));
  }

  /** Posts everything and waits for it. Returns the connections that did not get all of theirs. */
  async flush(): Promise<FailedPost[]> {
    return [...this.#failed.splice(0), ...(await this.#postAll())];
  }

  async #postAll(): Promise<FailedPost[]> {
    if (this.#connections.size === 0) return [];
    const waiting = this.take().entries();
    const failed: FailedPost[] = [];
    const serve = async () => {
      for (const [connectionId, packets] of waiting) {
        const failure = await this.#deliver(connectionId, packets);
        if (failure !== undefined) failed.push(failure);
      }
    };
    await Promise.all(Array.from({ length: PARALLEL_POSTS_MAX }, serve));
    for (const failure of failed) this.#log.info('post-failed', { ...failure });
    return failed;
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
