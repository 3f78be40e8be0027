import type { ConnectionId } from '@apus/broker';
import { close, tellLost } from './after.ts';
import type { Environment } from './environment.ts';
import type { FailedPost } from './postbag.ts';

/** Connections that are ended at the same time: each takes some reads and writes. */
const PARALLEL_MAX = 8;

/** Somebody waits until a connection is closed. */
interface Closing {
  readonly closed: Promise<void>;
  readonly tell: () => void;
}

/**
 * Connections that posts found gone, or that are closed for not reading. They are ended beside the posts of others: of
 * a thousand connections that were cut together none holds up those that are there.
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

  /** A connection comes here once. */
  add(failed: FailedPost): void {
    this.#closing.set(failed.connectionId, newClosing());
    // First those that miss something: they are closed, and a message that they would not get must not be followed.
    if (failed.outcome === 'gone') this.#waiting.push(failed);
    else this.#waiting.unshift(failed);
    if (this.#running < PARALLEL_MAX) this.#enders.push(this.#end());
  }

  /** It is to be closed, and is not yet. */
  isClosing(connectionId: ConnectionId): boolean {
    return this.#closing.has(connectionId);
  }

  /**
   * Resolves when it is closed, at once whatever others wait for that; or when the time is out. What MQTT says of a lost
   * connection comes after: a message that it leaves may have to wait for another one to be closed, and that one's for
   * this.
   */
  async closed(connectionId: ConnectionId): Promise<void> {
    if (!this.#hasTime()) return;
    const place = this.#waiting.findIndex((failed) => failed.connectionId === connectionId);
    const [failed] = place < 0 ? [] : this.#waiting.splice(place, 1);
    if (failed !== undefined) this.#enders.push(this.#tryToEnd(failed));
    await this.#closing.get(connectionId)?.closed;
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
    // The time is out: nobody is to wait for what is left.
    for (const left of this.#waiting) this.#tell(left);
  }

  async #tryToEnd(failed: FailedPost): Promise<void> {
    const { connectionId, outcome } = failed;
    try {
      const state = await close(this.#environment, failed).finally(() => this.#tell(failed));
      if (state !== undefined) await tellLost(this.#environment, connectionId, state, outcome);
    } catch (error) {
      // Its socket is closed: what the stores still say of it ends with $disconnect, or with the sweep.
      this.#environment.log.warn('lost-connection-failed', { ...failed, reason: String(error) });
    }
  }

  #tell({ connectionId }: FailedPost): void {
    this.#closing.get(connectionId)?.tell();
    this.#closing.delete(connectionId);
  }

  #next(): FailedPost | undefined {
    return this.#hasTime() ? this.#waiting.shift() : undefined;
  }
}

function newClosing(): Closing {
  let tell = () => {};
  const closed = new Promise<void>((resolve) => {
    tell = resolve;
  });
  return { closed, tell };
}
