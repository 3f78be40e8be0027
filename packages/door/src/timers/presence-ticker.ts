import type { Awaitable, Log, PresenceTicks } from '@apus/broker';
import type { Scheduler } from './scheduler.ts';

/** The ticks of rooms: at most one is armed for each room, and none for a room without changes. */
export class PresenceTicker implements PresenceTicks {
  readonly #scheduler: Scheduler;
  readonly #log: Log;
  readonly #tellRoom: (tenant: string, room: string) => Awaitable<void>;
  readonly #armed = new Map<string, () => void>();

  constructor(scheduler: Scheduler, log: Log, tellRoom: (tenant: string, room: string) => Awaitable<void>) {
    this.#scheduler = scheduler;
    this.#log = log;
    this.#tellRoom = tellRoom;
  }

  isArmed(tenant: string, room: string): boolean {
    return this.#armed.has(keyOf(tenant, room));
  }

  arm(tenant: string, room: string, delayMs: number): void {
    const key = keyOf(tenant, room);
    if (this.#armed.has(key)) return;
    const cancel = this.#scheduler.after(delayMs, () => {
      this.#armed.delete(key);
      void this.#tell(tenant, room);
    });
    this.#armed.set(key, cancel);
  }

  stop(): void {
    for (const cancel of this.#armed.values()) cancel();
    this.#armed.clear();
  }

  async #tell(tenant: string, room: string): Promise<void> {
    try {
      await this.#tellRoom(tenant, room);
    } catch (error) {
      this.#log.error('presence-tick-failed', { tenant, room, error: String(error) });
    }
  }
}

function keyOf(tenant: string, room: string): string {
  return `${tenant}\0${room}`;
}
