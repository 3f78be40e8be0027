import type { FilterName, Subscriber } from '@apus/broker';
import type { Scheduler } from '@apus/node';
import type { Bus } from './bus.ts';
import type { Frame, RouteState } from './frames.ts';
import { ROUTES_RETRY_MS } from './limits.ts';
import { routeOf } from './route-name.ts';
import type { StoredRoutes } from './store/index.ts';

/** The members of a filter or share group at this process, now. */
export type Members = (tenant: string, filter: FilterName) => readonly Subscriber[];

type RoutesFrame = Extract<Frame, { type: 'routes' }>;

interface Announced {
  isConnected: boolean;
  /** Undefined once every process knows the route. */
  telling: Promise<void> | undefined;
}

interface Change {
  readonly set: RouteState[];
  readonly removed: string[];
  readonly done: Promise<void>;
  finish(error?: unknown): void;
  /** Resolves when the change is in the engine. */
  readonly stored: Promise<void>;
  store(): void;
}

/**
 * Tells the other processes which messages subscribers of this one want. The first subscriber of a filter is answered
 * when all of them know: from then on each matching message comes here, wherever it is published. Changes of one turn
 * are told together.
 */
export class OwnRoutes {
  readonly #stored: StoredRoutes;
  readonly #bus: Bus;
  readonly #me: string;
  readonly #members: Members;
  readonly #clock: Scheduler;
  #isStopped = false;
  readonly #announced = new Map<string, Announced>();
  #change: Change | undefined;
  /** The last change: the engine makes changes in order. */
  #lastStored: Promise<void> = Promise.resolve();

  constructor(stored: StoredRoutes, bus: Bus, me: string, members: Members, clock: Scheduler) {
    this.#clock = clock;
    this.#stored = stored;
    this.#bus = bus;
    this.#me = me;
    this.#members = members;
  }

  /** Looks which of the filters have subscribers. Resolves when all processes know; undefined if they know already. */
  look(tenant: string, filters: Iterable<FilterName>): Promise<void> | undefined {
    let telling: Promise<void> | undefined;
    for (const filter of filters) telling = both(telling, this.#look(tenant, filter));
    return telling;
  }

  /** Resolves when everything announced so far is in the engine. */
  async stored(): Promise<void> {
    await (this.#change?.stored ?? this.#lastStored);
  }

  stop(): void {
    this.#isStopped = true;
  }

  #look(tenant: string, filter: FilterName): Promise<void> | undefined {
    const route = routeOf(tenant, filter);
    const members = this.#members(tenant, filter);
    const announced = this.#announced.get(route);
    if (members.length === 0) {
      if (announced === undefined) return undefined;
      this.#announced.delete(route);
      this.#gather((change) => change.removed.push(route));
      return undefined;
    }
    const isConnected =
      filter.shareGroup === undefined || members.some(({ session }) => session.attachment !== undefined);
    if (announced === undefined) return this.#announce(route, isConnected);
    if (announced.isConnected !== isConnected) {
      announced.isConnected = isConnected;
      this.#gather((change) => change.set.push([route, isConnected]));
    }
    return announced.telling;
  }

  #announce(route: string, isConnected: boolean): Promise<void> {
    const change = this.#gather(({ set }) => set.push([route, isConnected]));
    const announced: Announced = { isConnected, telling: undefined };
    announced.telling = change.done.then(() => {
      announced.telling = undefined;
    });
    // A waiting caller gets the error. If none waits, the route is not told, since this process has been given up.
    announced.telling.catch(() => {});
    this.#announced.set(route, announced);
    return announced.telling;
  }

  #gather(add: (change: Change) => void): Change {
    this.#change ??= this.#begin();
    add(this.#change);
    return this.#change;
  }

  #begin(): Change {
    let finish: (error?: unknown) => void = () => {};
    const done = new Promise<void>((resolve, reject) => {
      finish = (error) => (error === undefined ? resolve() : reject(error));
    });
    done.catch(() => {});
    let store = () => {};
    const stored = new Promise<void>((resolve) => {
      store = resolve;
    });
    setImmediate(() => {
      const change = this.#change;
      this.#change = undefined;
      if (change === undefined) return;
      this.#lastStored = change.stored;
      this.#tell(change).then(() => change.finish(), change.finish);
    });
    return { set: [], removed: [], done, finish, stored, store };
  }

  async #tell(change: Change): Promise<void> {
    const { frame, members } = await this.#store(change);
    change.store();
    await Promise.all(
      members.filter((process) => process !== this.#me).map((process) => this.#bus.request(process, frame)),
    );
  }

  /** Tries until the engine has it: nothing else would tell the engine these routes. */
  async #store(
    change: Change,
  ): Promise<{ readonly frame: RoutesFrame; readonly members: readonly string[] }> {
    for (;;) {
      const frame = this.#frameOf(change);
      const { set, removed } = frame;
      const put = set.map(([route, isConnected]) => [route, isConnected ? '1' : '0'] as const);
      try {
        const members = await this.#stored.change(put, removed);
        if (members !== undefined) return { frame, members };
      } catch (error) {
        if (this.#isStopped) throw error;
        await new Promise<void>((resolve) => this.#clock.after(ROUTES_RETRY_MS, resolve));
        continue;
      }
      throw new Error('this process has been given up');
    }
  }

  /** The last change of each route counts. */
  #frameOf({ set, removed }: Change): RoutesFrame {
    const put = new Map<string, boolean>();
    const gone = new Set<string>();
    for (const route of new Set([...set.map(([name]) => name), ...removed])) {
      const announced = this.#announced.get(route);
      if (announced === undefined) gone.add(route);
      else put.set(route, announced.isConnected);
    }
    return { type: 'routes', set: [...put], removed: [...gone] };
  }
}

function both(one: Promise<void> | undefined, other: Promise<void> | undefined): Promise<void> | undefined {
  if (one === undefined || other === undefined || one === other) return one ?? other;
  const joined = Promise.all([one, other]).then(() => {});
  joined.catch(() => {});
  return joined;
}
