import type { Scheduler } from '@apus/node';
import type { Bus } from './bus.ts';
import type { Frame } from './frames.ts';
import { TOLD_MS_MAX, TOLD_ROUNDS_MAX } from './limits.ts';
import type { Membership } from './store/index.ts';

export interface Others {
  readonly bus: Bus;
  readonly membership: Membership;
  readonly clock: Scheduler;
}

/**
 * Resolves when all other processes have done what the frame asks; or when that takes too long, while it goes on.
 *
 * A process that has died is given up meanwhile, and its heir is asked again, since it has taken over its sessions.
 */
export async function tellAll(others: Others, frame: Frame, msMax = TOLD_MS_MAX): Promise<void> {
  let cancel = () => {};
  const late = new Promise<'late'>((resolve) => {
    cancel = others.clock.after(msMax, () => resolve('late'));
  });
  try {
    let asked = await membersOf(others);
    for (let round = 0; round < TOLD_ROUNDS_MAX; round += 1) {
      const told = asked.map((process) => others.bus.request(process, frame));
      if ((await Promise.race([Promise.all(told), late])) === 'late') return;
      const left = await membersOf(others);
      if (left.length === asked.length && left.every((process) => asked.includes(process))) return;
      asked = left;
    }
  } finally {
    cancel();
  }
}

/** Sends a frame to all other processes, without waiting. */
export async function sendAll(others: Others, frame: Frame): Promise<void> {
  for (const process of await membersOf(others)) others.bus.send(process, frame);
}

async function membersOf({ membership }: Others): Promise<readonly string[]> {
  return (await membership.all()).filter((process) => process !== membership.me);
}
