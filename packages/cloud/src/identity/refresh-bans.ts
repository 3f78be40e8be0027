import type { Environment } from '../environment.ts';

/**
 * For events that read no frame: the list of bans that this process has is at most half a minute old [SEC-BAN-2].
 * Where it cannot be read the work goes on by the former list; the table then refuses most of it as well.
 */
export async function refreshBans({ bans, log }: Pick<Environment, 'bans' | 'log'>): Promise<void> {
  try {
    await bans?.refresh?.();
  } catch (error) {
    log.warn('bans-unavailable', { error: String(error) });
  }
}
