import type { Log } from '@apus/broker';
import { type ClusterNode, USAGE_INTERVAL_SECONDS } from '@apus/node';
import { DiskError, type Restored } from '@apus/store-disk';
import { type Bus, messagesOf } from './bus.ts';
import type { Frame } from './frames.ts';
import { WILL_GRACE_SECONDS } from './limits.ts';
import type { OwnRoutes } from './own-routes.ts';
import type { Relay } from './relay.ts';
import type { ClusterRooms } from './rooms.ts';
import type { ClusterSessions } from './sessions.ts';
import type { SharedCounts } from './shared-counts.ts';
import {
  type Claims,
  type Duties,
  GIVEN_UP,
  type Membership,
  type Reaped,
  type ValkeyStores,
  type ValkeyUsage,
} from './store/index.ts';

/** The duty of running bridges and rules. */
export const BRIDGES = 'bridges';

export interface TakeOverContext {
  readonly membership: Membership;
  readonly stores: ValkeyStores;
  readonly sessions: ClusterSessions;
  readonly own: OwnRoutes;
  readonly relay: Relay;
  readonly bus: Bus;
  readonly claims: Claims;
  readonly holdings: SharedCounts;
  readonly rooms: ClusterRooms;
  readonly usage: ValkeyUsage;
  readonly duties: Duties;
  readonly log: Log;
  /** Sends nothing more to the process. Returns the frames that it has not acknowledged. */
  readonly forget: (dead: string) => readonly { readonly frame: Frame; resolve(): void }[];
  /** This process has been given up itself. */
  readonly fail: (error: Error) => void;
}

/** A take-over whose sessions are in memory: the remaining steps can be repeated. */
interface Begun {
  readonly left: (() => Promise<void>)[];
}

/** Takes over the sessions of processes whose leases are over. */
export class TakeOver {
  readonly #context: TakeOverContext;
  readonly #node: ClusterNode;
  readonly #begun = new Map<string, Begun>();

  constructor(context: TakeOverContext, node: ClusterNode) {
    this.#context = context;
    this.#node = node;
  }

  /** Goes on where an earlier call for the process has failed. */
  async adopt(dead: string): Promise<void> {
    const begun = this.#begun.get(dead) ?? (await this.#begin(dead));
    if (begun === undefined) return;
    this.#begun.set(dead, begun);
    for (let step = begun.left[0]; step !== undefined; step = begun.left[0]) {
      await step();
      begun.left.shift();
    }
    this.#begun.delete(dead);
  }

  async #begin(dead: string): Promise<Begun | undefined> {
    const { membership, stores, sessions } = this.#context;
    const reaped = await membership.reap(dead);
    if (reaped === undefined) return undefined;
    const content = await stores.read(reaped);
    await this.#node.loadConditions();
    // In one turn: from here on messages that this process publishes reach the sessions directly.
    const restored = stores.adopt(reaped, content, WILL_GRACE_SECONDS);
    for (const session of restored.sessions) sessions.adopted(session);
    if (restored.lastMessageId !== undefined) this.#node.broker.messageClock.observe(restored.lastMessageId);
    // The process may have died before it could end banned sessions.
    const enforced = this.#node.enforceBans();
    for (const process of reaped.processes) this.#inherit(process, restored, enforced);
    return { left: this.#steps(reaped, restored, enforced) };
  }

  /** Each step may be repeated. */
  #steps({ processes }: Reaped, restored: Restored, enforced: Promise<void>): (() => Promise<void>)[] {
    const { stores, sessions, claims, holdings, rooms, usage } = this.#context;
    const forEach = (work: (process: string) => Promise<void>) => async () => {
      for (const process of processes) await work(process);
    };
    return [
      async () => {
        for (const { timer, dueAtMs } of restored.dueTimers) await this.#node.timers.set(timer, dueAtMs);
      },
      // Before a client of the dead process may come back: it would be counted beside its own connection.
      forEach((process) => holdings.inherit(process)),
      forEach((process) => claims.inherit(process, (clientId) => sessions.has(clientId))),
      () => this.#tellRoutes(restored),
      forEach((process) => rooms.inherit(process)),
      forEach((process) => usage.inherit(process, USAGE_INTERVAL_SECONDS * 1000)),
      forEach((process) => this.#inheritDuties(process)),
      () => enforced,
      () => stores.written(),
      forEach((process) => this.#tell(process, restored.sessions.length)),
    ];
  }

  /** Frames that this process had for the dead one. */
  #inherit(dead: string, restored: Restored, enforced: Promise<void>): void {
    const { relay, membership, forget } = this.#context;
    relay.adopt(dead, restored);
    const own = forget(dead);
    const inherited = relay.inherit(this.#node.broker, membership.me, dead, messagesOf(own));
    void Promise.all([inherited, enforced]).then(() => {
      for (const { resolve } of own) resolve();
    });
  }

  /** Writes the routes of the sessions to the engine: processes that join later find them there. */
  async #tellRoutes({ sessions }: Restored): Promise<void> {
    const { own, stores } = this.#context;
    for (const session of sessions) own.look(session.tenant, stores.subscriptions.list(session));
    await own.stored();
  }

  async #inheritDuties(dead: string): Promise<void> {
    const inherited = await this.#context.duties.inherit(dead);
    if (inherited.includes(BRIDGES)) this.#node.lead();
  }

  async #tell(dead: string, sessions: number): Promise<void> {
    const { membership, relay, bus, log, fail } = this.#context;
    const members = await membership.adopted(dead);
    if (members === undefined) return fail(new DiskError(GIVEN_UP));
    const others = members.filter((process) => process !== membership.me && process !== dead);
    relay.told(dead, others);
    for (const process of others) bus.send(process, { type: 'dead', process: dead });
    log.info('process-taken-over', { process: dead, sessions });
  }
}
