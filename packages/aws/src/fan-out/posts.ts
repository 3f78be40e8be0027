import { type Clock, type ConnectionId, type Log, steadyNow, type UsageCounter } from '@apus/broker';
import type { LostConnections, OnUnfinished } from '../connections/lost-connections.ts';
import type { Frame } from '../frames/frame.ts';
import type { PacketSequence } from '../frames/packet-sequence.ts';
import { PARALLEL_POSTS_MAX } from '../posts/direct-posts.ts';
import type { Redirection } from '../posts/gathered-posts.ts';
import { logFailedPost, type Sender } from '../posts/gathered-posts.ts';
import { Pace } from '../posts/pace.ts';
import type { PostAttempts, Poster, PostOutcome } from '../posts/poster.ts';
import { Refusals, triesAt } from '../posts/refusals.ts';
import { SlowConsumers } from '../posts/slow-consumers.ts';
import { frameUsage } from '../usage/event-usage.ts';
import { type Delivery, keepUnkept, leftOf, mustArrive, packetsIn } from './delivery.ts';
import type { FanOutCounts } from './metrics.ts';

/** Waits before the second, third … try of a post; the last one before each further try. Each with jitter. */
const RETRY_DELAYS_MS = [25, 75, 200];

export interface FanOutPostsOptions {
  readonly poster: PostAttempts & Pick<Poster, 'get'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly sleep: (ms: number) => Promise<void>;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Where packets go whose connection is gone because its session has gone on elsewhere. */
  readonly redirectionOf: (connectionId: ConnectionId) => Promise<Redirection | undefined>;
  readonly postsPerSecond: number;
  /** Counts the successful posts. @default they are not counted */
  readonly usage?: UsageCounter | undefined;
}

/** A worker's knowledge of the gateway, which it keeps from one batch to the next. */
export class GatewayState {
  readonly pace: Pace;
  readonly refusals = new Refusals();
  readonly slow = new SlowConsumers();

  constructor(postsPerSecond: number) {
    this.pace = new Pace(postsPerSecond);
  }
}

/** A delivery that is tried again. */
interface Retry {
  readonly delivery: Delivery;
  ended: Promise<void>;
}

/** Ends connections that miss a message. */
export type Losses = Pick<
  LostConnections,
  'add' | 'alsoMisses' | 'isOpenFor' | 'isClosing' | 'closed' | 'allClosed'
>;

type AttemptOutcome = PostOutcome | 'no-time';

/**
 * The posts of one batch. A refused post is tried again beside the posts that follow, so it delays no other
 * connection. Only if the account is throttled does a slice wait for all its posts, and the next one leaves at a
 * slower pace.
 */
export class FanOutPosts {
  readonly #options: Omit<FanOutPostsOptions, 'postsPerSecond'>;
  readonly #gateway: GatewayState;
  readonly #counts: FanOutCounts;
  /** Nothing is sent after this; posts under way still have time to end. */
  readonly #deadlineMs: number;
  readonly #lost: Losses;
  /** Deliveries that are tried again. One whose session has moved stands here under each connection. */
  readonly #retried = new Map<ConnectionId, Retry>();
  /** Lookups whether the session of a connection that is gone has moved. */
  readonly #redirecting = new Set<Promise<boolean>>();
  /**
   * Connections that are gone or have to be closed: no packet may reach them any more. With the connection that each
   * had moved to.
   */
  readonly #ended = new Map<ConnectionId, ConnectionId>();

  constructor(
    options: Omit<FanOutPostsOptions, 'postsPerSecond'>,
    gateway: GatewayState,
    counts: FanOutCounts,
    deadlineMs: number,
    lost: Losses,
  ) {
    this.#options = options;
    this.#gateway = gateway;
    this.#counts = counts;
    this.#deadlineMs = deadlineMs;
    this.#lost = lost;
  }

  /**
   * Posts a slice. Calls `onUnfinished` if the time runs out before everything that must arrive has arrived, perhaps
   * after this has resolved and before `finishRetries` does. Never rejects.
   */
  async post(
    posts: ReadonlyMap<ConnectionId, PacketSequence>,
    onUnfinished: OnUnfinished,
    tenant: string,
  ): Promise<void> {
    const waiting = posts.entries();
    const lanes = Math.min(PARALLEL_POSTS_MAX, posts.size);
    await Promise.all(Array.from({ length: lanes }, () => this.#serve(waiting, [onUnfinished], tenant)));
    // The next slice may name the connection that a session has moved to: its frames join those that follow there.
    while (this.#redirecting.size > 0) await Promise.all(this.#redirecting);
    if (this.#gateway.refusals.isThrottled(steadyNow(this.#options.clock))) await this.finishRetries();
  }

  /** For the outbox of a slice; see `post`. */
  sender(onUnfinished: OnUnfinished, tenant: string): Sender {
    return {
      post: async (posts) => {
        await this.post(posts, onUnfinished, tenant);
        return [];
      },
      hasLeft: async (connectionIds) => {
        await Promise.all(connectionIds.map((connectionId) => this.#hasLeft(connectionId)));
      },
    };
  }

  async #hasLeft(connectionId: ConnectionId): Promise<void> {
    await this.#retried.get(connectionId)?.ended;
    await this.#lost.closed(this.#ended.get(connectionId) ?? connectionId);
  }

  /**
   * Whether a message of the slice is still tried again, or a connection that misses it is not closed yet. If the
   * worker dies now, another worker has to repeat the slice.
   */
  isOpen(onUnfinished: OnUnfinished): boolean {
    for (const { delivery } of this.#retried.values()) {
      if (delivery.onUnfinished.includes(onUnfinished) && mustArrive(delivery)) return true;
    }
    return this.#lost.isOpenFor(onUnfinished);
  }

  /** Waits for the connections that are still tried, and for those that have to be closed. */
  async finishAll(): Promise<void> {
    do {
      await this.finishRetries();
      await this.#lost.allClosed();
    } while (this.#retried.size > 0);
  }

  /** Waits for the connections that are still tried. */
  async finishRetries(): Promise<void> {
    // Also those that are added meanwhile: a map is walked as it grows.
    for (const { ended } of this.#retried.values()) await ended;
  }

  /**
   * Serves one connection after another, each until its first refusal; retries run beside. No asynchronous function is
   * called for each post: at thousands a second their promises would take a good part of the CPU.
   */
  async #serve(
    waiting: Iterable<readonly [ConnectionId, PacketSequence]>,
    onUnfinished: Delivery['onUnfinished'],
    tenant: string,
  ): Promise<void> {
    for (const [connectionId, packets] of waiting) {
      const delivery = this.#begin(connectionId, packets.frames(), onUnfinished, tenant);
      while (delivery !== undefined && delivery.index < delivery.frames.length) {
        const nowMs = steadyNow(this.#options.clock);
        const outcome = await this.#attempt(delivery, nowMs);
        this.#note(delivery, outcome, nowMs);
        if (outcome === 'sent') continue;
        this.#interrupt(delivery, outcome);
        break;
      }
    }
  }

  /** Undefined: nothing is posted now. */
  #begin(
    connectionId: ConnectionId,
    frames: readonly Frame[],
    onUnfinished: Delivery['onUnfinished'],
    tenant: string,
  ): Delivery | undefined {
    const ended = this.#ended.get(connectionId);
    if (ended !== undefined) {
      if (frames.some(({ mustArrive }) => mustArrive)) this.#lost.alsoMisses(ended, onUnfinished);
      return undefined;
    }
    const retried = this.#retried.get(connectionId)?.delivery;
    if (retried === undefined)
      return {
        connectionId,
        tenant,
        to: connectionId,
        names: new Set([connectionId]),
        frames,
        index: 0,
        tries: 0,
        share: 0,
        onUnfinished,
      };
    // Behind the frames that the connection has not taken yet.
    retried.frames = [...retried.frames, ...frames];
    retried.onUnfinished = [...retried.onUnfinished, ...onUnfinished];
    return undefined;
  }

  #interrupt(delivery: Delivery, outcome: Exclude<AttemptOutcome, 'sent'>): void {
    if (outcome === 'no-time') {
      this.#outOfTime(delivery);
      return;
    }
    const retry: Retry = { delivery, ended: Promise.resolve() };
    this.#retried.set(delivery.connectionId, retry);
    retry.ended = this.#retry(delivery, outcome).finally(() => this.#end(delivery));
  }

  /**
   * No frame may join a delivery whose outcome is decided: it would be left behind. So the delivery is removed in the
   * same turn, and not when the function that awaits the retry goes on:
   *
   *     retry to connection X              next slice
   *     has sent its last frame
   *                                        finds a retry to X: its frame joins
   *     ends, and is forgotten
   */
  #end(delivery: Delivery): void {
    for (const connectionId of delivery.names)
      if (this.#retried.get(connectionId)?.delivery === delivery) this.#retried.delete(connectionId);
  }

  async #retry(delivery: Delivery, refusedBy: Exclude<PostOutcome, 'sent'>): Promise<void> {
    let outcome: AttemptOutcome = refusedBy;
    while (outcome === 'sent' || (await this.#mayBeTriedAgain(delivery, outcome))) {
      if (delivery.index === delivery.frames.length) return this.#end(delivery);
      if (delivery.tries > 0) await this.#options.sleep(this.#delayMs(delivery));
      const nowMs = steadyNow(this.#options.clock);
      outcome = await this.#attempt(delivery, nowMs);
      this.#note(delivery, outcome, nowMs);
      if (outcome === 'no-time') return this.#outOfTime(delivery);
    }
  }

  #delayMs({ tries }: Delivery): number {
    const delayMs = RETRY_DELAYS_MS[Math.min(tries, RETRY_DELAYS_MS.length) - 1] ?? 0;
    return delayMs * (0.5 + this.#options.random());
  }

  /** Sends the next frame when the pace allows it. */
  #attempt({ to, frames, index }: Delivery, nowMs: number): Promise<AttemptOutcome> | AttemptOutcome {
    const { sleep, poster } = this.#options;
    const frame = frames[index];
    if (frame === undefined || nowMs >= this.#deadlineMs) return 'no-time';
    const waitMs = this.#gateway.pace.take(nowMs);
    if (nowMs + waitMs >= this.#deadlineMs) return 'no-time';
    if (waitMs > 0) return sleep(waitMs).then(() => poster.attempt(to, frame));
    return poster.attempt(to, frame);
  }

  /** Notes the outcome of the frame that was sent at `nowMs`. */
  #note(delivery: Delivery, outcome: AttemptOutcome, nowMs: number): void {
    const { pace, refusals } = this.#gateway;
    if (outcome === 'no-time') return;
    const isRefused = outcome === 'throttled' || outcome === 'unsent' || outcome === 'failed';
    if (delivery.tries === 0) refusals.note(isRefused, nowMs);
    if (outcome === 'throttled') this.#counts.throttled += 1;
    if (isRefused && refusals.isThrottled(nowMs)) pace.slowDown(nowMs);
    if (outcome !== 'sent') return;
    this.#counts.posts += 1;
    const frame = delivery.frames[delivery.index];
    this.#counts.deliveries += frame?.packets ?? 0;
    const { usage } = this.#options;
    if (usage !== undefined && frame !== undefined) usage.add(delivery.tenant, frameUsage(frame));
    delivery.index += 1;
    delivery.tries = 0;
    delivery.share = 0;
  }

  /** Decides whether a failed post is tried again. */
  async #mayBeTriedAgain(delivery: Delivery, outcome: Exclude<PostOutcome, 'sent'>): Promise<boolean> {
    const { refusals, slow } = this.#gateway;
    const nowMs = steadyNow(this.#options.clock);
    if (outcome === 'gone' && (await this.#follows(delivery))) return true;
    if (outcome === 'gone' || outcome === 'too-large') return this.#giveUp(delivery, outcome);
    if (outcome === 'failed' && delivery.frames[delivery.index]?.mustComeOnce === true)
      return this.#giveUp(delivery, outcome);
    // Does not ask the gateway: the next attempt finds that the time is out.
    if (nowMs >= this.#deadlineMs) return true;
    if (outcome === 'failed' && !this.#keepWhatMayRepeat(delivery)) return true;
    delivery.tries += 1;
    delivery.share = Math.max(delivery.share, refusals.share(nowMs));
    if (slow.has(delivery.connectionId, nowMs)) return this.#giveUp(delivery, outcome);
    return delivery.tries < triesAt(delivery.share) || (await this.#isGatewayAtFault(delivery, outcome));
  }

  /** Whether the session of a connection that is gone has moved; the delivery then follows it. */
  async #follows(delivery: Delivery): Promise<boolean> {
    const redirected = this.#redirect(delivery);
    this.#redirecting.add(redirected);
    return redirected.finally(() => this.#redirecting.delete(redirected));
  }

  async #redirect(delivery: Delivery): Promise<boolean> {
    const next = await this.#options.redirectionOf(delivery.to).catch(() => undefined);
    if (next === undefined) return false;
    const retry = this.#retried.get(delivery.connectionId);
    delivery.to = next.to;
    delivery.names.add(next.to);
    delivery.tries = 0;
    if (next.unkeptAlone) keepUnkept(delivery);
    if (retry !== undefined) this.#retried.set(next.to, retry);
    return true;
  }

  /**
   * Asks the gateway for another call about this connection: if the account is throttled it refuses this call as well;
   * if the client does not read, it answers. While the gateway does not answer, no connection is given up.
   */
  async #isGatewayAtFault(delivery: Delivery, outcome: Exclude<PostOutcome, 'sent'>): Promise<boolean> {
    const status = await this.#options.poster.get(delivery.to, this.#deadlineMs);
    if (status !== 'unknown') return this.#giveUp(delivery, status === 'gone' ? 'gone' : outcome);
    delivery.tries = 0;
    return true;
  }

  /** It is unknown whether the frame arrived: QoS 0 is not sent again. False: nothing of the frame is. */
  #keepWhatMayRepeat(delivery: Delivery): boolean {
    const { frames, index } = delivery;
    const frame = frames[index];
    const repeat = frame?.repeat();
    this.#drop((frame?.packets ?? 0) - (repeat?.packets ?? 0), 'unknown-fate');
    delivery.frames = [
      ...frames.slice(0, index),
      ...(repeat === undefined ? [] : [repeat]),
      ...frames.slice(index + 1),
    ];
    return repeat !== undefined;
  }

  /** The slice comes again as a repeat, which would not send a frame of QoS 0 alone. */
  #outOfTime(delivery: Delivery): void {
    this.#end(delivery);
    if (mustArrive(delivery)) for (const tell of delivery.onUnfinished) tell();
    else this.#drop(packetsIn(leftOf(delivery)), 'no-time');
  }

  /** Returns false: the frame is not tried again. */
  #giveUp(delivery: Delivery, outcome: Exclude<PostOutcome, 'sent'>): false {
    this.#end(delivery);
    const { connectionId, to, names, onUnfinished } = delivery;
    const packets = packetsIn(leftOf(delivery));
    const isLoss = mustArrive(delivery);
    const failure = { connectionId: to, outcome, isLoss, packets };
    logFailedPost(this.#options.log, failure);
    if (outcome === 'gone' || isLoss) {
      for (const name of names) this.#ended.set(name, to);
      this.#counts[outcome === 'gone' ? 'gone' : 'closed'] += 1;
      // A connection that is gone misses nothing by staying open for a while: nothing reaches it.
      const onUnclosed = outcome === 'gone' ? [] : onUnfinished;
      this.#lost.add(failure, onUnclosed);
      return false;
    }
    this.#counts.dropped += packets;
    if (outcome !== 'too-large') this.#gateway.slow.remember(connectionId, steadyNow(this.#options.clock));
    return false;
  }

  #drop(count: number, why: 'unknown-fate' | 'no-time'): void {
    if (count === 0) return;
    this.#counts.dropped += count;
    this.#options.log.warn('messages-dropped', { why, count });
  }
}
