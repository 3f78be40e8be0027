import { type Ban, BanList } from '@apus/broker';
import type { ValkeyBans } from './store/index.ts';
import { type Others, tellAll } from './tell-all.ts';

/** Ends the clients that these bans name, if earlier bans have not. */
export type BansChanged = (bans: readonly Ban[]) => Promise<void>;

/**
 * One list of bans for all processes, in the engine; each process has it in memory. A change is announced without its
 * content, and each process reads the whole list, so the order of two announcements makes no difference.
 */
export class SharedBans {
  readonly store: ValkeyBans;
  /** The broker's list. */
  readonly list: BanList;
  readonly #others: Others;
  #changed: BansChanged = async () => {};
  #reading: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  private constructor(store: ValkeyBans, others: Others, bans: readonly Ban[]) {
    this.store = store;
    this.list = new BanList(others.clock, bans);
    this.#others = others;
  }

  /** To be called by a member: it reads all earlier changes, and is told of later ones. */
  static async open(store: ValkeyBans, others: Others): Promise<SharedBans> {
    return new SharedBans(store, others, await store.load());
  }

  start(changed: BansChanged): void {
    this.#changed = changed;
  }

  /** Reads the list again. Calls during a read share one further read. */
  read(): Promise<void> {
    this.#next ??= this.#reading.then(() => {
      this.#next = undefined;
      this.#reading = this.store.load().then((bans) => this.#changed(bans));
      return this.#reading;
    });
    return this.#next;
  }

  /**
   * Resolves when all processes have the engine's list, and have ended the clients that it names; or when that takes
   * too long, while it goes on.
   */
  async tell(): Promise<void> {
    await Promise.all([this.read(), tellAll(this.#others, { type: 'bans' })]);
  }
}
