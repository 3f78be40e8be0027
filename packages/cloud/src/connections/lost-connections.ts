import type { ConnectionId, LinkState } from '@apus/broker';
import type { Environment } from '../environment.ts';
import { inOneEvent } from '../outbox.ts';
import type { FailedPost } from '../posts/gathered-posts.ts';
import { close, isToldOfGaps, mayResume, movedTo, tellLost } from './lose.ts';

/** Connections that are ended at the same time: each takes some reads and writes. */
const PARALLEL_MAX = 8;

/** A connection that is to be closed, and is not yet. */
interface Closing {
  /** Resolves when it is closed, or cannot be, or the time is out. */
  readonly closed: Promise<void>;
  readonly tell: () => void;
  /** Called when the connection stays open: each slice with a message that it misses has to come again. */
  readonly onUnclosed: Set<OnUnfinished>;
}

/** Tells a slice that it has to come again. Each slice has its own function. */
export type OnUnfinished = () => void;

/**
 * Connections that posts found gone, or that are closed for not reading. They are ended beside the posts of others: a
 * thousand connections that were cut together do not delay the connections that are still there.
 */
export class LostConnections {
  readonly #environment: Environment;
  readonly #hasTime: () => boolean;
  #waiting: FailedPost[] = [];
  readonly #closing = new Map<ConnectionId, Closing>();
  #enders: Promise<void>[] = [];
  #running = 0;

  constructor(environment: Environment, hasTime: () => boolean) {
    this.#environment = environment;
    this.#hasTime = hasTime;
  }

  /** A connection comes here once. `onUnclosed` is called by `allClosed`, or before, when it is not closed. */
  add(failed: FailedPost, onUnclosed: readonly OnUnfinished[] = []): void {
    this.#closing.set(failed.connectionId, newClosing(onUnclosed));
    // First those that miss something: they are closed, and a message that they would not get must not be followed.
    if (failed.outcome === 'gone') this.#waiting.push(failed);
    else this.#waiting.unshift(failed);
    if (this.#running < PARALLEL_MAX) this.#enders.push(this.#end());
  }

  /** Something of another slice was not sent to it either, as it is to be closed. Without effect where it is. */
  alsoMisses(connectionId: ConnectionId, onUnclosed: readonly OnUnfinished[]): void {
    for (const each of onUnclosed) this.#closing.get(connectionId)?.onUnclosed.add(each);
  }

  /** Some connection that misses something of this slice is not closed yet. */
  isOpenFor(onUnclosed: OnUnfinished): boolean {
    for (const closing of this.#closing.values()) if (closing.onUnclosed.has(onUnclosed)) return true;
    return false;
  }

  /** It is to be closed, and is not yet. */
  isClosing(connectionId: ConnectionId): boolean {
    return this.#closing.has(connectionId);
  }

  /**
   * Resolves when the connection is closed, or when the time is out. The caller publishes the will, and does the rest
   * that MQTT asks for, after that: the will may have to wait for another connection to be closed, whose will waits for
   * this one.
   */
  async closed(connectionId: ConnectionId): Promise<void> {
    if (!this.#hasTime()) return;
    const place = this.#waiting.findIndex((failed) => failed.connectionId === connectionId);
    const [failed] = place < 0 ? [] : this.#waiting.splice(place, 1);
    if (failed !== undefined) this.#enders.push(this.#tryToEnd(failed));
    await this.#closing.get(connectionId)?.closed;
  }

  /**
   * Resolves when all are closed, or the time is out. A connection that is still open then reads on without the
   * messages that it misses, so the slices of these messages are told.
   */
  async allClosed(): Promise<void> {
    // Also those that are added meanwhile: a map is walked as it grows.
    for (const { closed } of this.#closing.values()) await closed;
    for (const { onUnclosed } of this.#closing.values()) for (const tell of onUnclosed) tell();
  }

  /** Resolves when all have been ended, or the time is out. Those left are found by the next post, or by the sweep. */
  async done(): Promise<void> {
    while (this.#enders.length > 0) {
      const enders = this.#enders;
      this.#enders = [];
      await Promise.all(enders);
    }
    if (this.#waiting.length > 0) {
      this.#environment.log.warn('lost-connections-left', { count: this.#waiting.length });
    }
  }

  async #end(): Promise<void> {
    this.#running += 1;
    for (let next = this.#next(); next !== undefined; next = this.#next()) await this.#tryToEnd(next);
    this.#running -= 1;
    // The time is out: the remaining connections stay open, and their slices are told.
    for (const { connectionId } of this.#waiting) this.#closing.get(connectionId)?.tell();
  }

  /**
   *     worker                             handler of a resume
   *     post to O: 410
   *     O has not gone on
   *                                        O goes on over N; the reply says that nothing is missing
   *     end O: the message would be missing, and its client not be told
   *     ends N, and notes that something is missing: the client resumes once more, and is told
   */
  async #tryToEnd(failed: FailedPost): Promise<void> {
    const { connectionId, outcome } = failed;
    try {
      const state = await this.#close(failed);
      // A worker keeps no messages for clients that are away: thousands may be.
      const isNoted = mayResume(state) && !hasMissed(state);
      const present = isNoted ? await this.#environment.links.keep(connectionId, []) : undefined;
      const to = movedTo(present ?? state);
      // The session has moved: end its new connection too, so that the client starts anew or is told of the gap.
      if (to !== undefined && (failed.isLoss || isToldOfGaps(state)))
        this.add({ ...failed, connectionId: to, outcome: 'failed', isLoss: true });
      if (state?.phase !== 'connected') return;
      await inOneEvent(this.#environment, ({ broker }) => tellLost(broker, connectionId, state, outcome));
    } catch (error) {
      // $disconnect or the sweep removes what the stores still hold of the connection.
      this.#environment.log.warn('lost-connection-failed', { ...failed, error: String(error) });
    }
  }

  async #close(failed: FailedPost): Promise<LinkState | undefined> {
    const closing = this.#closing.get(failed.connectionId);
    try {
      return await close(this.#environment, failed);
    } catch (error) {
      // Whether its socket is closed is unknown. If it is, the post that comes again finds it gone.
      for (const tell of closing?.onUnclosed ?? []) tell();
      throw error;
    } finally {
      this.#closing.delete(failed.connectionId);
      closing?.tell();
    }
  }

  #next(): FailedPost | undefined {
    return this.#hasTime() ? this.#waiting.shift() : undefined;
  }
}

function hasMissed(state: LinkState | undefined): boolean {
  return state?.phase === 'closed' && state.hasMissed === true;
}

function newClosing(onUnclosed: readonly OnUnfinished[]): Closing {
  let tell = () => {};
  const closed = new Promise<void>((resolve) => {
    tell = resolve;
  });
  return { closed, tell, onUnclosed: new Set(onUnclosed) };
}
