import { type ConnectionId, type LinkState, reasonOf } from '@apus/broker';
import type { Environment } from '../environment.ts';
import { inOneEvent } from '../outbox.ts';
import type { FailedPost } from '../posts/gathered-posts.ts';
import { close, isToldOfGaps, mayResume, movedTo, tellLost } from './lose.ts';

/** Connections that are closed at the same time. Each takes some reads and writes. */
const PARALLEL_MAX = 8;

/** A connection that has to be closed. */
interface Closing {
  /** Resolves when it is closed, when it cannot be closed, or when the time is out. */
  readonly closed: Promise<void>;
  readonly tell: () => void;
  /** Called if the connection stays open: each slice with a message that it misses has to come again. */
  readonly onUnclosed: Set<OnUnfinished>;
}

/** Tells a slice that it has to come again. */
export type OnUnfinished = () => void;

/**
 * Connections that a post found gone, or that are closed because their clients do not read. They are closed beside the
 * posts to others: a thousand connections that were cut together delay no open one.
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

  /** Adds a connection once. `onUnclosed` is called if it cannot be closed, by `allClosed` or earlier. */
  add(failed: FailedPost, onUnclosed: readonly OnUnfinished[] = []): void {
    this.#closing.set(failed.connectionId, newClosing(onUnclosed));
    // First those that miss a message: it must not be followed by another one.
    if (failed.outcome === 'gone') this.#waiting.push(failed);
    else this.#waiting.unshift(failed);
    if (this.#running < PARALLEL_MAX) this.#enders.push(this.#end());
  }

  /** A message of another slice was not sent to it either. Without effect if it is closed. */
  alsoMisses(connectionId: ConnectionId, onUnclosed: readonly OnUnfinished[]): void {
    for (const each of onUnclosed) this.#closing.get(connectionId)?.onUnclosed.add(each);
  }

  /** Whether a connection that misses a message of this slice is still open. */
  isOpenFor(onUnclosed: OnUnfinished): boolean {
    for (const closing of this.#closing.values()) if (closing.onUnclosed.has(onUnclosed)) return true;
    return false;
  }

  /** Whether it is to be closed, and still open. */
  isClosing(connectionId: ConnectionId): boolean {
    return this.#closing.has(connectionId);
  }

  /**
   * Resolves when the connection is closed, or the time is out. The caller publishes the will after that: the will may
   * have to wait for another connection to be closed, whose own will waits for this one.
   */
  async closed(connectionId: ConnectionId): Promise<void> {
    if (!this.#hasTime()) return;
    const place = this.#waiting.findIndex((failed) => failed.connectionId === connectionId);
    const [failed] = place < 0 ? [] : this.#waiting.splice(place, 1);
    if (failed !== undefined) this.#enders.push(this.#tryToEnd(failed));
    await this.#closing.get(connectionId)?.closed;
  }

  /**
   * Resolves when all are closed, or the time is out. A connection that is still open goes on without the messages
   * that it misses, so their slices are told.
   */
  async allClosed(): Promise<void> {
    // Also those that are added meanwhile: a map is walked as it grows.
    for (const { closed } of this.#closing.values()) await closed;
    for (const { onUnclosed } of this.#closing.values()) for (const tell of onUnclosed) tell();
  }

  /** Resolves when all have been handled, or the time is out. The next post, or the sweep, finds the others. */
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
    // The time is out: the other connections stay open, and their slices are told.
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
      // A worker keeps no messages for absent clients: there may be thousands.
      const isNoted = mayResume(state) && !hasMissed(state);
      const present = isNoted ? await this.#environment.links.keep(connectionId, []) : undefined;
      const to = movedTo(present ?? state);
      // The session has moved: closes its new connection too, so the client starts anew or is told of the gap.
      if (to !== undefined && (failed.isLoss || isToldOfGaps(state)))
        this.add({ ...failed, connectionId: to, outcome: 'failed', isLoss: true });
      if (state?.phase !== 'connected') return;
      await inOneEvent(this.#environment, ({ broker }) => tellLost(broker, connectionId, state, outcome));
    } catch (error) {
      // $disconnect or the sweep removes what the stores still have of the connection.
      this.#environment.log.warn('lost-connection-failed', { ...failed, error: reasonOf(error) });
    }
  }

  async #close(failed: FailedPost): Promise<LinkState | undefined> {
    const closing = this.#closing.get(failed.connectionId);
    try {
      return await close(this.#environment, failed);
    } catch (error) {
      // It is unknown whether its socket is closed. If it is, the repeated post finds it gone.
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
