import { type Ban, BanList } from '@apus/broker';
import type { ValkeyBans } from '@apus/store-valkey';
import { type Others, tellAll } from './tell-all.ts';

/** Ends the clients that these bans name and that were not named before. */
export type BansChanged = (bans: readonly Ban[]) => Promise<void>;

/**
 * One list of bans for all processes. It is in the engine; each process has it in memory. A change is told without its content, and
 * each process reads the whole list again: so it does not matter in which order two changes are told.
 */
export class SharedBans {
  readonly store: ValkeyBans;
  /** The broker's. */
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

  /** To be called as a member: a change before is in what is read, and one that comes later is told. */
  static async open(store: ValkeyBans, others: Others): Promise<SharedBans> {
    return new SharedBans(store, others, await store.load());
  }

  start(changed: BansChanged): void {
    this.#changed = changed;
  }

  /** Reads the list anew. A call that comes while a read waits for another one shares it. */
  read(): Promise<void> {
    this.#next ??= this.#reading.then(() => {
      this.#next = undefined;
      this.#reading = this.store.load().then((bans) => this.#changed(bans));
      return this.#reading;
    });
    return this.#next;
  }

  /**
   * Resolves when all processes have the list as it is in the engine, and have ended the clients that it names; or when that takes too
   * long: then it is still under way.
   */
  async tell(): Promise<void> {
    await Promise.all([this.read(), tellAll(this.#others, { type: 'bans' })]);
  }
}
