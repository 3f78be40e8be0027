import { type Awaitable, holderKeyOf, type Message, type Outlet, type Publisher } from '@apus/broker';
import { matches } from '@apus/mqtt';
import type {
  Backlog,
  BridgesContext,
  OpenBridges,
  RunningBridges,
  RunningRules,
  TenantFilter,
} from './bridges.ts';
import { takeAll } from './take-all.ts';

/** The time until the next attempt, if the bridges of a dead process cannot be started yet. */
const LEAD_AGAIN_MS = 1_000;

/**
 * The bridges and rules of a node. In a cluster each process runs those that share their work by themselves, like
 * members of a consumer group, and one process runs all others, with their sessions.
 */
export class NodeBridges implements Outlet {
  readonly #open: OpenBridges;
  readonly #running: RunningBridges[] = [];
  readonly #outlets: Outlet[] = [];
  /** Filters of full queues at other processes. */
  readonly #fullElsewhere = new Map<string, readonly TenantFilter[]>();
  #backlog: Backlog | undefined;
  #context: BridgesContext | undefined;
  #isLeading = false;
  #leading: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(open: OpenBridges) {
    this.#open = open;
  }

  /** To be called before the first client, so that no message passes by the bridges. */
  async start(context: BridgesContext, isOneOfMany: boolean): Promise<void> {
    this.#context = context;
    this.#add(await this.#open(context, isOneOfMany ? 'shared' : 'all'));
  }

  /** From now on this process runs the bridges and rules that one process at a time runs. */
  lead(): void {
    if (this.#isLeading) return;
    this.#isLeading = true;
    this.#leading = this.#lead();
  }

  async list(tenant: string): Promise<object[]> {
    return (await Promise.all(this.#running.map((each) => each.list(tenant)))).flat();
  }

  get rules(): RunningRules | undefined {
    return this.#running.findLast(({ rules }) => rules !== undefined)?.rules;
  }

  take(tenant: string, message: Message, isAnswered: boolean): Awaitable<boolean> | undefined {
    return takeAll(this.#outlets, tenant, message, isAnswered);
  }

  hasRoom(tenant: string, message: Message, publisher: Publisher | undefined): boolean {
    if (this.#backlog === undefined) return true;
    const holder = holderKeyOf(publisher);
    for (const filters of this.#fullElsewhere.values())
      for (const full of filters) {
        const isOfOther = full.holder !== undefined && full.holder !== holder;
        if (!isOfOther && full.tenant === tenant && matches(full.topicFilter, message.topic)) return false;
      }
    return this.#backlog.roomFor(tenant, message, holder) === 'enough';
  }

  queued(tenant: string, message: Message, publisher: Publisher | undefined): void {
    this.#backlog?.queued(tenant, message, holderKeyOf(publisher));
  }

  /** The queues at this process. Undefined: no message leaves later. */
  get backlog(): Backlog | undefined {
    return this.#backlog;
  }

  /** These queues of another process are full now. */
  fullElsewhere(process: string, filters: readonly TenantFilter[]): void {
    if (filters.length === 0) this.#fullElsewhere.delete(process);
    else this.#fullElsewhere.set(process, filters);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#leading;
    await Promise.all(this.#running.map((each) => each.stop()));
  }

  /** The broker may have no room for their sessions now. */
  async #lead(): Promise<void> {
    const context = this.#context;
    while (context !== undefined && !this.#isStopped) {
      try {
        this.#add(await this.#open(context, 'alone'));
        return;
      } catch (error) {
        context.log.error('bridges-not-started', { error: String(error) });
        await new Promise<void>((resolve) => context.clock.after(LEAD_AGAIN_MS, resolve));
      }
    }
  }

  #add(running: RunningBridges): void {
    this.#running.push(running);
    this.#backlog ??= running.backlog;
    if (running.outlet !== undefined) this.#outlets.push(running.outlet);
  }
}
