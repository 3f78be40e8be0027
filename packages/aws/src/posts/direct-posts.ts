import type { ConnectionId, Log } from '@apus/broker';
import type { Frame } from '../frames/frame.ts';
import type { PacketSequence } from '../frames/packet-sequence.ts';
import type { Meter } from '../metrics/meter.ts';
import { METRICS } from '../metrics/metric-names.ts';
import { type FailedPost, logFailedPost, type Sender } from './gathered-posts.ts';
import { inLanes } from './lanes.ts';
import type { Poster } from './poster.ts';

/** Connections that are posted to at the same time. More would only queue in front of the sockets. */
export const PARALLEL_POSTS_MAX = 64;

/** Posts to connections side by side, to each in order, and waits for the answers. */
export class DirectPosts implements Sender {
  readonly #poster: Poster;
  readonly #log: Log;
  readonly #meter: Meter;

  constructor(poster: Poster, log: Log, meter: Meter) {
    this.#poster = poster;
    this.#log = log;
    this.#meter = meter;
  }

  async post(posts: ReadonlyMap<ConnectionId, PacketSequence>): Promise<readonly FailedPost[]> {
    const failed: FailedPost[] = [];
    await inLanes(PARALLEL_POSTS_MAX, posts, async ([connectionId, packets]) => {
      const failure = await this.#deliver(connectionId, packets);
      if (failure === undefined) return;
      failed.push(failure);
      logFailedPost(this.#log, failure);
    });
    return failed;
  }

  /** Stops after a failure: later packets would arrive before the missing ones. */
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
  return { connectionId, outcome, isLoss: missing.some(({ mustArrive }) => mustArrive), packets, missing };
}
