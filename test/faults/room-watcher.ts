import type { WatcherLedger } from './presence-ledger.ts';

/** The watcher tries a refused SUBSCRIBE again after this time. */
const AGAIN_MS = 500;

export interface RoomWatcherOptions {
  readonly ledger: Pick<WatcherLedger, 'forgets'>;
  /** Sends SUBSCRIBE, and returns the reason code of SUBACK; undefined if the connection ended before. */
  readonly subscribe: () => Promise<number | undefined>;
  readonly isConnected: () => boolean;
}

/**
 * A program that shows the members of a room, as described in docs/presence.md. It subscribes until a SUBACK grants the
 * subscription: it repeats an unanswered SUBSCRIBE, even if the session still exists.
 */
export class RoomWatcher {
  readonly #options: RoomWatcherOptions;
  /** The program has to subscribe: it has not yet, or may have missed changes. */
  #mustAsk = true;
  #isAsking = false;

  constructor(options: RoomWatcherOptions) {
    this.#options = options;
  }

  /** The last SUBSCRIBE was granted after the last reason to subscribe. */
  get hasBegun(): boolean {
    return !this.#mustAsk && !this.#isAsking;
  }

  /** CONNACK has come. */
  connected(isSessionPresent: boolean): void {
    if (!isSessionPresent) this.#mustAsk = true;
    this.#ask();
  }

  /** The transport says that messages may be missing. */
  gap(): void {
    this.#mustAsk = true;
    this.#ask();
  }

  #ask(): void {
    const { ledger, subscribe, isConnected } = this.#options;
    if (this.#isAsking || !this.#mustAsk || !isConnected()) return;
    this.#isAsking = true;
    this.#mustAsk = false;
    ledger.forgets();
    void subscribe().then((code) => {
      this.#isAsking = false;
      if (code === 1) return this.#ask();
      this.#mustAsk = true;
      setTimeout(() => this.#ask(), AGAIN_MS);
    });
  }
}
