import { reasonOf } from '@apus/broker';
import type { Environment } from '../environment.ts';

/**
 * For events without a frame: makes sure that the list of bans of this process is at most half a minute old
 * [SEC-BAN-2]. If it cannot be read, the event goes on with the former list; most likely the table then refuses the
 * rest of its work too.
 */
export async function refreshBans({ bans, log }: Pick<Environment, 'bans' | 'log'>): Promise<void> {
  try {
    await bans?.refresh?.();
  } catch (error) {
    log.warn('bans-unavailable', { error: reasonOf(error) });
  }
}
