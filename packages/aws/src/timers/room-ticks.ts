import type { Clock, PresenceTicks } from '@apus/broker';
import type { DynamoPresence } from '@apus/store-dynamodb';
import type { SqsTimers } from './sqs-timers.ts';

/**
 * Members that one tick tells of. At 200 bytes they are one job for each shard of the watchers, and a few frames for
 * each watcher. The next tick tells of the others.
 */
const MEMBERS_PER_TICK = 300;

/**
 * The ticks of rooms, as delayed messages in the timers' queue. The room's item says that one is under way. It is sent
 * before that is written: if a process dies in between, there is one tick too many, which tells nothing.
 */
export class RoomTicks implements PresenceTicks {
  readonly membersMax = MEMBERS_PER_TICK;
  readonly #rooms: DynamoPresence['rooms'];
  readonly #timers: SqsTimers;
  readonly #clock: Clock;

  constructor({ rooms }: DynamoPresence, timers: SqsTimers, clock: Clock) {
    this.#rooms = rooms;
    this.#timers = timers;
    this.#clock = clock;
  }

  async isArmed(tenant: string, room: string): Promise<boolean> {
    return await this.#rooms.isArmed(tenant, room);
  }

  async arm(tenant: string, room: string, delayMs: number): Promise<void> {
    if (await this.isArmed(tenant, room)) return;
    const dueAtMs = this.#clock.now() + delayMs;
    await this.#timers.armTick({ tenant, room, dueAtMs });
    await this.#rooms.arm(tenant, room, dueAtMs);
  }

  /** A tick has come. Later changes arm the next tick; earlier ones are read by this one. */
  async disarm(tenant: string, room: string): Promise<void> {
    await this.#rooms.disarm(tenant, room);
  }
}
