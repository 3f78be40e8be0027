import type { FilterName, Subscriber } from '@apus/broker';
import { routeOf } from './route-name.ts';

/**
 * Chooses the process whose member of a share group gets a message: one after another, among those with a connected
 * member; where none is connected, among all. The process then chooses a member.
 */
export class ShareChoice {
  readonly #turns = new Map<string, number>();

  choose(
    tenant: string,
    name: FilterName,
    processes: ReadonlyMap<string, boolean>,
    here: readonly Subscriber[],
  ): 'here' | string | undefined {
    const isConnectedHere = here.some(({ session }) => session.attachment !== undefined);
    const connected = [...processes].filter(([, isConnected]) => isConnected).map(([process]) => process);
    const candidates: ('here' | string)[] = isConnectedHere ? ['here', ...connected] : connected;
    if (candidates.length === 0) candidates.push(...(here.length > 0 ? ['here'] : []), ...processes.keys());
    if (candidates.length < 2) return candidates[0];
    const route = routeOf(tenant, name);
    const turn = this.#turns.get(route) ?? 0;
    this.#turns.set(route, turn + 1);
    return candidates[turn % candidates.length];
  }

  /** The group has no member at any other process. */
  forget(tenant: string, name: FilterName): void {
    this.#turns.delete(routeOf(tenant, name));
  }
}
