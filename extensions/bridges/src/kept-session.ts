import type { Subscription } from '@apus/broker';
import { isFailure } from '@apus/mqtt';
import {
  type BridgesContext,
  type LocalLink,
  LocalLinkEnded,
  type LocalSession,
  type LocalSessionOptions,
} from '@apus/node';

/** The time until the session asks again after the broker had no room or has closed the connection. */
const PAUSE_MS = 500;

type Subscribed = Parameters<LocalLink['subscribe']>[0];

export interface KeptSessionOptions {
  readonly session: LocalSessionOptions;
  /** All filters of the session: it unsubscribes others that an earlier run has left. */
  readonly subscriptions: Subscribed;
  readonly refused: (topicFilter: Subscription['topicFilter'], reasonCode: number) => void;
  /** The broker refuses the session for now. */
  readonly failed: (error: string) => void;
}

/** A session at this broker that reconnects whenever the broker has closed its connection, until it is stopped. */
export class KeptSession {
  readonly #context: Pick<BridgesContext, 'open' | 'waiting' | 'clock'>;
  readonly #options: KeptSessionOptions;
  #local: LocalSession | undefined;
  #isStopped = false;

  constructor(context: Pick<BridgesContext, 'open' | 'waiting' | 'clock'>, options: KeptSessionOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** Undefined while the broker refuses the session. */
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

  /** @throws {LocalLinkEnded} if the broker refuses the connection */
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

  /** The broker has closed the connection. Resolves when it is open again, or the session has been stopped. */
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

  /** Ends the session's connection for good. */
  stop(): void {
    this.#isStopped = true;
  }

  async leave(): Promise<void> {
    await this.#local?.link.leave();
  }
}
