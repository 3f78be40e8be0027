import type { Scheduler } from '@apus/node';
import { MOVING_MS_MAX, MOVING_POLL_MS } from './limits.ts';
import { NotHere } from './not-here.ts';
import type { Home } from './store/index.ts';

/**
 * The process that has the sessions of a client. Undefined: this one, or none.
 *
 * @param ask asks the engine
 * @throws {NotHere} if the sessions move from one process to another for too long
 */
export async function findHome(ask: () => Promise<Home>, clock: Scheduler): Promise<string | undefined> {
  const deadlineMs = performance.now() + MOVING_MS_MAX;
  for (;;) {
    const home = await ask();
    if (typeof home === 'object') return home.process;
    if (home !== 'moving') return undefined;
    if (performance.now() > deadlineMs)
      throw new NotHere('its sessions are on their way to a living process');
    await new Promise<void>((resolve) => clock.after(MOVING_POLL_MS, resolve));
  }
}
