import type { Awaitable, Message, Outlet } from '@apus/broker';
import type { BridgesContext, OpenBridges, RunningBridges, RunningRules } from './bridges.ts';
import { takeAll } from './take-all.ts';

/** Until the next attempt, where the bridges of a dead process cannot be started yet. */
const LEAD_AGAIN_MS = 1_000;

/**
 * The bridges and rules of a node. In a cluster each process has those that share their work by themselves, as members of a consumer
 * group do, and one process has all others, with their sessions.
 */
export class NodeBridges implements Outlet {
  readonly #open: OpenBridges;
  readonly #running: RunningBridges[] = [];
  readonly #outlets: Outlet[] = [];
  #context: BridgesContext | undefined;
  #isLeading = false;
  #leading: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(open: OpenBridges) {
    this.#open = open;
  }

  /** To be called before the first client, so that no message passes by them. */
  async start(context: BridgesContext, isOneOfMany: boolean): Promise<void> {
    this.#context = context;
    this.#add(await this.#open(context, isOneOfMany ? 'shared' : 'all'));
  }

  /** This process has the bridges and rules that one process has, from now on. */
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

  hasRoom(tenant: string, message: Message): boolean {
    return this.#outlets.every((outlet) => outlet.hasRoom?.(tenant, message) !== false);
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
    if (running.outlet !== undefined) this.#outlets.push(running.outlet);
  }
}
