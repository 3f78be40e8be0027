import type { Subscription } from '@apus/broker';
import { isFailure } from '@apus/mqtt';
import {
  type BridgesContext,
  type LocalLink,
  LocalLinkEnded,
  type LocalSession,
  type LocalSessionOptions,
} from '@apus/node';

/** Until the broker is asked again, where it has no room now or has ended the connection. */
const PAUSE_MS = 500;

type Subscribed = Parameters<LocalLink['subscribe']>[0];

export interface KeptSessionOptions {
  readonly session: LocalSessionOptions;
  /** All that it is subscribed to: what an earlier one had beside it is unsubscribed. */
  readonly subscriptions: Subscribed;
  readonly refused: (topicFilter: Subscription['topicFilter'], reasonCode: number) => void;
  /** The broker keeps it out for now. */
  readonly failed: (error: string) => void;
}

/** A session of this broker that is opened anew whenever the broker has ended its connection, until it is stopped. */
export class KeptSession {
  readonly #context: Pick<BridgesContext, 'open' | 'waiting' | 'clock'>;
  readonly #options: KeptSessionOptions;
  #local: LocalSession | undefined;
  #isStopped = false;

  constructor(context: Pick<BridgesContext, 'open' | 'waiting' | 'clock'>, options: KeptSessionOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** Undefined while the broker keeps it out. */
  get local(): LocalSession | undefined {
    return this.#local;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Messages that wait in its queue. */
  get waitingMessages(): number {
    return this.#context.waiting(this.#options.session).messages;
  }

  /** @throws {LocalLinkEnded} where the broker does not let it in */
  async open(): Promise<void> {
    const { session, subscriptions, refused } = this.#options;
    const local = await this.#context.open(session);
    this.#local = local;
    const wanted = subscriptions.map(({ topicFilter }) => topicFilter);
    await local.link.unsubscribe(local.topicFilters.filter((filter) => !wanted.includes(filter)));
    const granted = await local.link.subscribe(subscriptions);
    const at = granted.findIndex(isFailure);
    if (at !== -1) refused(wanted[at] ?? '', granted[at] ?? 0);
  }

  /** The broker has ended its connection: resolves when it is open again, or stopped. */
  async reopen(): Promise<void> {
    this.#local = undefined;
    while (!this.#isStopped && this.#local === undefined) {
      await this.pause();
      try {
        if (!this.#isStopped) await this.open();
      } catch (error) {
        this.#local = undefined;
        if (!(error instanceof LocalLinkEnded)) throw error;
        this.#options.failed(error.message);
      }
    }
  }

  pause(): Promise<void> {
    return new Promise((resolve) => this.#context.clock.after(PAUSE_MS, resolve));
  }

  /** It is not opened again. */
  stop(): void {
    this.#isStopped = true;
  }

  async leave(): Promise<void> {
    await this.#local?.link.leave();
  }
}
