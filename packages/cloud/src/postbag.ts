import type { ConnectionId, Log } from '@apus/broker';
import { PacketsOut } from './packets-out.ts';
import type { Poster, PostOutcome } from './poster.ts';
import { formatPush } from './text-frame.ts';

/** Connections that are posted to at the same time. More would only queue in front of the sockets. */
const PARALLEL_POSTS_MAX = 64;

export interface FailedPost {
  readonly connectionId: ConnectionId;
  readonly outcome: Exclude<PostOutcome, 'sent'>;
  /** More than QoS 0 messages is missing. */
  readonly isLoss: boolean;
}

/**
 * What is to be posted when the frame has been handled. All packets for one connection leave in as few posts as they
 * fit into, one after another, which keeps their order; connections are served side by side.
 */
export class Postbag {
  readonly #poster: Poster;
  readonly #log: Log;
  #connections = new Map<ConnectionId, PacketsOut>();

  constructor(poster: Poster, log: Log) {
    this.#poster = poster;
    this.#log = log;
  }

  push(connectionId: ConnectionId, packet: Uint8Array, mustArrive: boolean): void {
    let packets = this.#connections.get(connectionId);
    if (packets === undefined) {
      packets = new PacketsOut();
      this.#connections.set(connectionId, packets);
    }
    packets.push(packet, mustArrive);
  }

  /** Posts everything and waits for it. Returns the connections that did not get all of theirs. */
  async flush(): Promise<FailedPost[]> {
    if (this.#connections.size === 0) return [];
    const waiting = [...this.#connections].values();
    this.#connections = new Map();
    const failed: FailedPost[] = [];
    const serve = async () => {
      for (const [connectionId, packets] of waiting) {
        const isLoss = packets.mustArrive;
        const outcome = await this.#deliver(connectionId, packets);
        if (outcome !== 'sent') failed.push({ connectionId, outcome, isLoss });
      }
    };
    await Promise.all(Array.from({ length: PARALLEL_POSTS_MAX }, serve));
    for (const failure of failed) this.#log.info('post-failed', { ...failure });
    return failed;
  }

  async #deliver(connectionId: ConnectionId, packets: PacketsOut): Promise<PostOutcome> {
    const mayRepeat = packets.mustArrive;
    for (const frame of packets.takeFrames()) {
      const outcome = await this.#poster.post(connectionId, formatPush(frame), mayRepeat);
      if (outcome !== 'sent') return outcome;
    }
    return 'sent';
  }
}
