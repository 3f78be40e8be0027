import { type Ban, BanList } from '@apus/broker';
import type { Scheduler } from '@apus/node';
import type { Membership, ValkeyBans } from '@apus/store-valkey';
import type { Bus } from './bus.ts';
import { BANS_TOLD_MS_MAX } from './limits.ts';

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
  readonly #bus: Bus;
  readonly #membership: Membership;
  readonly #clock: Scheduler;
  #changed: BansChanged = async () => {};
  #reading: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  private constructor(
    store: ValkeyBans,
    bus: Bus,
    membership: Membership,
    clock: Scheduler,
    bans: readonly Ban[],
  ) {
    this.store = store;
    this.list = new BanList(clock, bans);
    this.#bus = bus;
    this.#membership = membership;
    this.#clock = clock;
  }

  /** To be called as a member: a change before is in what is read, and one that comes later is told. */
  static async open(
    store: ValkeyBans,
    bus: Bus,
    membership: Membership,
    clock: Scheduler,
  ): Promise<SharedBans> {
    return new SharedBans(store, bus, membership, clock, await store.load());
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
   * Settles when all processes have the list as it is in the engine, and have ended the clients that it names; or when that takes too
   * long: then it is still under way.
   */
  async tell(): Promise<void> {
    const others = (await this.#membership.all()).filter((process) => process !== this.#membership.me);
    const told = others.map((process) => this.#bus.request(process, { type: 'bans' }));
    let cancel = () => {};
    const late = new Promise<void>((resolve) => {
      cancel = this.#clock.after(BANS_TOLD_MS_MAX, resolve);
    });
    await Promise.race([Promise.all([this.read(), ...told]), late]);
    cancel();
  }
}
