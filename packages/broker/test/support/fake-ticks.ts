import type { PresenceTicks } from '../../src/index.ts';
import type { FakeDoor } from './fake-door.ts';

/** Ticks that come when the test says so. */
export class FakeTicks implements PresenceTicks {
  /** Of each armed room, by tenant and name: its delay. */
  readonly armed = new Map<string, number>();

  isArmed(tenant: string, room: string): boolean {
    return this.armed.has(`${tenant} ${room}`);
  }

  arm(tenant: string, room: string, delayMs: number): void {
    this.armed.set(`${tenant} ${room}`, delayMs);
  }

  /** Each armed room has its tick. Answers how many there were. */
  async tick(door: FakeDoor): Promise<number> {
    const rooms = [...this.armed.keys()];
    this.armed.clear();
    for (const each of rooms) {
      const [tenant = '', room = ''] = each.split(' ');
      await door.broker.tellRoom(tenant, room);
    }
    return rooms.length;
  }
}
