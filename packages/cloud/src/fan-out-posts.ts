import type { Clock, ConnectionId } from '@apus/broker';
import type { FanOutCounts } from './fan-out-metrics.ts';
import type { Frame } from './frame.ts';
import { Pace } from './pace.ts';
import type { PacketSequence } from './packet-sequence.ts';
import { type FailedPost, PARALLEL_POSTS_MAX } from './postbag.ts';
import type { PostAttempts, PostOutcome } from './poster.ts';
import { Refusals, triesAt } from './refusals.ts';
import { SlowConsumers } from './slow-consumers.ts';

/** Waits before the second, third … try of a post, and before each further one the last of them; each with jitter. */
const RETRY_DELAYS_MS = [25, 75, 200];

export interface FanOutPostsOptions {
  readonly attempts: PostAttempts;
  readonly clock: Clock;
  readonly sleep: (ms: number) => Promise<void>;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly postsPerSecond: number;
}

/** What a worker remembers of the gateway from one batch to the next. */
export class GatewayState {
  readonly pace: Pace;
  readonly refusals = new Refusals();
  readonly slow = new SlowConsumers();

  constructor(postsPerSecond: number) {
    this.pace = new Pace(postsPerSecond);
  }
}

/** Frames on their way to one connection. */
interface Delivery {
  readonly connectionId: ConnectionId;
  frames: readonly Frame[];
  /** The one that is next. */
  index: number;
  /** How often that one was refused. */
  tries: number;
  /** The share of all posts that was refused then. */
  share: number;
  /** The slice that it belongs to. */
  slice: number;
}

type AttemptOutcome = PostOutcome | 'no-time';

/**
 * The posts of one batch. A connection that refuses is tried again beside what follows: it holds up nobody. Only when
 * the account is throttled a slice waits for all of its posts, and the next one leaves at a slower pace.
 */
export class FanOutPosts {
  readonly #options: Omit<FanOutPostsOptions, 'postsPerSecond'>;
  readonly #gateway: GatewayState;
  readonly #counts: FanOutCounts;
  /** By then nothing may be under way any more. */
  readonly #deadlineMs: number;
  readonly #onFailed: (failure: FailedPost) => void;
  readonly #retried = new Map<ConnectionId, { readonly delivery: Delivery; readonly ended: Promise<void> }>();
  /** Gone, or to be closed: nothing may come to them out of order. */
  readonly #ended = new Set<ConnectionId>();
  #slice = 0;
  #isComplete = true;

  constructor(
    options: Omit<FanOutPostsOptions, 'postsPerSecond'>,
    gateway: GatewayState,
    counts: FanOutCounts,
    deadlineMs: number,
    onFailed: (failure: FailedPost) => void,
  ) {
    this.#options = options;
    this.#gateway = gateway;
    this.#counts = counts;
    this.#deadlineMs = deadlineMs;
    this.#onFailed = onFailed;
  }

  /** Posts a slice. False when the time ran out before everything was sent or given up. Never rejects. */
  async post(bag: ReadonlyMap<ConnectionId, PacketSequence>): Promise<boolean> {
    this.#slice += 1;
    this.#isComplete = true;
    const waiting = bag.entries();
    const serve = async () => {
      for (const [connectionId, packets] of waiting) await this.#begin(connectionId, packets.frames());
    };
    await Promise.all(Array.from({ length: Math.min(PARALLEL_POSTS_MAX, bag.size) }, serve));
    if (this.#gateway.refusals.isThrottled(this.#options.clock.now())) await this.settle();
    return this.#isComplete;
  }

  /** Waits for the connections that are still being tried. */
  async settle(): Promise<void> {
    for (const { ended } of [...this.#retried.values()]) await ended;
  }

  async #begin(connectionId: ConnectionId, frames: readonly Frame[]): Promise<void> {
    if (this.#ended.has(connectionId)) return;
    const retried = this.#retried.get(connectionId)?.delivery;
    if (retried === undefined) {
      const delivery = { connectionId, frames, index: 0, tries: 0, share: 0, slice: this.#slice };
      return await this.#serve(delivery);
    }
    // Behind what it has not taken yet.
    retried.frames = [...retried.frames, ...frames];
    retried.slice = this.#slice;
  }

  /** Until the first refusal; what follows it happens beside. */
  async #serve(delivery: Delivery): Promise<void> {
    while (delivery.index < delivery.frames.length) {
      const outcome = await this.#attempt(delivery);
      if (outcome === 'sent') continue;
      if (!this.#mayBeTriedAgain(delivery, outcome)) return;
      const ended = this.#retry(delivery).finally(() => this.#retried.delete(delivery.connectionId));
      this.#retried.set(delivery.connectionId, { delivery, ended });
      return;
    }
  }

  async #retry(delivery: Delivery): Promise<void> {
    while (delivery.index < delivery.frames.length) {
      const delayMs = RETRY_DELAYS_MS[Math.min(delivery.tries, RETRY_DELAYS_MS.length) - 1] ?? 0;
      if (delivery.tries > 0) await this.#options.sleep(delayMs * (0.5 + this.#options.random()));
      const outcome = await this.#attempt(delivery);
      if (outcome !== 'sent' && !this.#mayBeTriedAgain(delivery, outcome)) return;
    }
  }

  /** Sends the frame that is next, when the pace lets it. */
  async #attempt(delivery: Delivery): Promise<AttemptOutcome> {
    const { clock, sleep, attempts } = this.#options;
    const { pace, refusals } = this.#gateway;
    const frame = delivery.frames[delivery.index];
    const nowMs = clock.now();
    if (frame === undefined || nowMs >= this.#deadlineMs) return 'no-time';
    const waitMs = pace.take(nowMs);
    if (nowMs + waitMs >= this.#deadlineMs) return 'no-time';
    if (waitMs > 0) await sleep(waitMs);
    const outcome = await attempts.attempt(delivery.connectionId, frame);
    const isRefused = outcome === 'throttled' || outcome === 'unsent' || outcome === 'failed';
    if (delivery.tries === 0) refusals.note(isRefused, nowMs);
    if (outcome === 'throttled') this.#counts.throttled += 1;
    if (isRefused && refusals.isThrottled(nowMs)) pace.slowDown(nowMs);
    if (outcome !== 'sent') return outcome;
    this.#counts.posts += 1;
    this.#counts.deliveries += frame.packets;
    delivery.index += 1;
    delivery.tries = 0;
    delivery.share = 0;
    return outcome;
  }

  /** Decides over a post that was not taken. */
  #mayBeTriedAgain(delivery: Delivery, outcome: Exclude<AttemptOutcome, 'sent'>): boolean {
    const { refusals, slow } = this.#gateway;
    const nowMs = this.#options.clock.now();
    if (outcome === 'no-time') return this.#outOfTime(delivery);
    if (outcome === 'gone' || outcome === 'too-large') return this.#giveUp(delivery, outcome);
    if (outcome === 'failed' && !this.#keepWhatMayRepeat(delivery)) return true;
    delivery.tries += 1;
    delivery.share = Math.max(delivery.share, refusals.share(nowMs));
    const isSlow = slow.has(delivery.connectionId, nowMs);
    if (isSlow || delivery.tries >= triesAt(delivery.share)) return this.#giveUp(delivery, outcome);
    return true;
  }

  /** Whether it arrived is unknown: QoS 0 is not sent again. False when nothing of the frame is. */
  #keepWhatMayRepeat(delivery: Delivery): boolean {
    const { frames, index } = delivery;
    const frame = frames[index];
    const repeat = frame?.repeat();
    this.#counts.dropped += (frame?.packets ?? 0) - (repeat?.packets ?? 0);
    delivery.frames = [
      ...frames.slice(0, index),
      ...(repeat === undefined ? [] : [repeat]),
      ...frames.slice(index + 1),
    ];
    return repeat !== undefined;
  }

  /** The slice is left, and comes again; unless it counts as served already: then its connection is given up. */
  #outOfTime(delivery: Delivery): boolean {
    if (delivery.slice !== this.#slice) return this.#giveUp(delivery, 'throttled');
    this.#isComplete = false;
    return false;
  }

  /** False, for whoever asks whether it may be tried again. */
  #giveUp(delivery: Delivery, outcome: Exclude<PostOutcome, 'sent'>): false {
    const { connectionId, frames, index } = delivery;
    const left = frames.slice(index);
    const isLoss = left.some(({ mustArrive }) => mustArrive);
    if (outcome === 'gone' || isLoss) {
      this.#ended.add(connectionId);
      this.#counts[outcome === 'gone' ? 'gone' : 'closed'] += 1;
      this.#onFailed({ connectionId, outcome, isLoss });
      return false;
    }
    this.#counts.dropped += left.reduce((sum, { packets }) => sum + packets, 0);
    if (outcome !== 'too-large') this.#gateway.slow.remember(connectionId, this.#options.clock.now());
    return false;
  }
}
