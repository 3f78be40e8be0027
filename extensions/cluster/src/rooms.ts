import type { Broker, Log, MatchedFilter, Timers, WideFilter } from '@apus/broker';
import type { Scheduler } from '@apus/node';
import type { Bus } from './bus.ts';
import { ROOMS_POLL_MS, TELLERS_ASKED_MAX } from './limits.ts';
import type { ValkeyPresence } from './store/index.ts';

/** The parts of a node that tell watchers. */
export interface RoomsNode {
  readonly broker: Broker;
  readonly timers: Timers;
}

export interface RoomsContext {
  readonly store: ValkeyPresence;
  readonly bus: Bus;
  /** The name of this process. */
  readonly me: string;
  readonly log: Log;
  readonly clock: Scheduler;
  /** How long members of a dead process stay. */
  readonly graceSeconds: number;
  /** Matching subscriptions of this process, and other processes that have some. */
  readonly subscribersHere: (tenant: string, topic: string) => number;
  readonly processesWith: (tenant: string, topic: string) => number;
}

/**
 * One process tells the watchers of each room, so that they see changes in one order: the one that the engine names,
 * while it lives. Other processes hand their changes to it, and wait until watchers were told:
 *
 *     A: ann joins → the engine                 B, which tells the watchers of the room
 *     A: asks who tells them: B → B             takes from the engine what they have not been told: ann
 *                                               tells them; the engine notes that they know
 *     A: answers ann's PUBLISH
 */
export class ClusterRooms {
  readonly #context: RoomsContext;
  /** Rooms whose watchers are being told: the next change waits. */
  readonly #telling = new Map<string, Promise<void>>();
  #node: RoomsNode | undefined;
  #handing = 0;

  constructor(context: RoomsContext) {
    this.#context = context;
  }

  start(node: RoomsNode): void {
    this.#node = node;
  }

  /**
   * Resolves when watchers have been told, or a tick is going to tell them. If the process dies, another one takes its
   * place.
   */
  readonly hand = async (tenant: string, room: string): Promise<void> => {
    this.#handing += 1;
    try {
      await this.#hand(tenant, room);
    } finally {
      this.#handing -= 1;
    }
  };

  /** Resolves when all changes by clients so far have been told, or after so much time. */
  async allTold(ms: number): Promise<void> {
    const { store, clock } = this.#context;
    const untilMs = performance.now() + ms;
    while ((this.#handing > 0 || store.isBusy) && performance.now() < untilMs)
      await new Promise<void>((resolve) => clock.after(ROOMS_POLL_MS, resolve));
  }

  async #hand(tenant: string, room: string): Promise<void> {
    const { store, bus, me } = this.#context;
    let asked: string | undefined;
    for (let count = 0; count < TELLERS_ASKED_MAX; count += 1) {
      const teller = await store.teller(tenant, room);
      if (teller === asked) return;
      if (teller === me) return await this.changed(tenant, room);
      await bus.request(teller, { type: 'room', tenant, room });
      asked = teller;
    }
  }

  /** Assumes that each other process with watchers has as many as this one. */
  readonly audienceOf = ({ tenant }: WideFilter, topic: string): number => {
    const { subscribersHere, processesWith } = this.#context;
    return Math.max(1, subscribersHere(tenant, topic)) * processesWith(tenant, topic);
  };

  readonly tick = (tenant: string, room: string): Promise<void> => {
    return this.#inTurn(tenant, room, (broker) => broker.tellRoom(tenant, room));
  };

  /** Another process has changed the room. If a change cannot be told now, it is told with the next one. */
  async asked(tenant: string, room: string): Promise<void> {
    await this.changed(tenant, room).catch((error: unknown) => this.#notTold(tenant, room, error));
  }

  /** A room has changed, and this process tells its watchers. */
  changed(tenant: string, room: string): Promise<void> {
    return this.#inTurn(tenant, room, (broker) => broker.roomChanged(tenant, room));
  }

  /** The sessions of a dead process are here: their members stay for a while, for clients that come back. */
  async inherit(dead: string): Promise<void> {
    const { store, clock, graceSeconds } = this.#context;
    const { places, rooms, renamed } = await store.inherit(dead);
    const dueAtMs = clock.now() + graceSeconds * 1000;
    for (const { session, connectionId } of places)
      await this.#node?.timers.set({ kind: 'presence', session, connectionId }, dueAtMs);
    await renamed;
    for (const [tenant, room] of rooms)
      this.hand(tenant, room).catch((error: unknown) => this.#notTold(tenant, room, error));
  }

  #notTold(tenant: string, room: string, error: unknown): void {
    this.#context.log.error('room-not-told', { tenant, room, error: String(error) });
  }

  /** Watchers are told everything that was read from the engine before more is read. */
  #inTurn(tenant: string, room: string, tell: (broker: Broker) => unknown): Promise<void> {
    const broker = this.#node?.broker;
    if (broker === undefined) return Promise.resolve();
    const key = `${tenant}\0${room}`;
    const before = this.#telling.get(key) ?? Promise.resolve();
    const telling = before.then(async () => {
      await tell(broker);
    });
    const told = telling.catch(() => {});
    this.#telling.set(key, told);
    void told.then(() => {
      if (this.#telling.get(key) === told) this.#telling.delete(key);
    });
    return telling;
  }
}

export function subscriberCount(matched: readonly MatchedFilter[]): number {
  return matched.reduce((sum, { subscribers }) => sum + subscribers.length, 0);
}
