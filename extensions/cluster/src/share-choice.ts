import type { FilterName, Subscriber } from '@apus/broker';
import { rememberedName, routeOf } from './route-name.ts';

/**
 * Chooses the process whose member of a share group gets a message: in turn, among processes with a connected member;
 * if there is none, among all. That process chooses the member.
 */
export class ShareChoice {
  /** The turns of each group: between this process and the others, and among the others. */
  readonly #turnsHere = new Map<string, number>();
  readonly #turnsElsewhere = new Map<string, number>();

  /**
   * Whether a member of this process gets the next message.
   *
   * @param isLook the message is matched again when it has its place in a stream: only then it takes its turn
   */
  isHere(
    tenant: string,
    name: FilterName,
    processes: ReadonlyMap<string, boolean>,
    here: readonly Subscriber[],
    isLook = false,
  ): boolean {
    if (here.length === 0) return false;
    const isConnected = here.some(({ session }) => session.attachment !== undefined);
    const connected = connectedOf(processes).length;
    if (!isConnected) return connected === 0;
    if (isLook) return true;
    return nextTurn(this.#turnsHere, routeOf(tenant, name)) % (connected + 1) === 0;
  }

  /** The other process that gets it. */
  choose(tenant: string, name: FilterName, processes: ReadonlyMap<string, boolean>): string | undefined {
    const connected = connectedOf(processes);
    const candidates = connected.length > 0 ? connected : [...processes.keys()];
    if (candidates.length < 2) return candidates[0];
    return candidates[nextTurn(this.#turnsElsewhere, routeOf(tenant, name)) % candidates.length];
  }
}

/** Groups whose turns are kept. The turns of others begin again, which makes no difference to their members. */
const TURNS_MAX = 10_000;

function nextTurn(turns: Map<string, number>, name: string): number {
  const route = rememberedName(name);
  const turn = turns.get(route) ?? 0;
  if (turns.size >= TURNS_MAX && turn === 0) turns.clear();
  turns.set(route, turn + 1);
  return turn;
}

function connectedOf(processes: ReadonlyMap<string, boolean>): string[] {
  return [...processes].filter(([, isConnected]) => isConnected).map(([process]) => process);
}
