import { STATUS_INTERVAL_MS } from '../limits.ts';
import type { ConnectionStatus, SubscriptionState, Traffic } from '../types.ts';
import type { Later } from './batcher.ts';

/** The fields that change with events; the other fields of a status are measured when it is reported. */
export type StatusFacts = Omit<ConnectionStatus, 'traffic' | 'subscriptions'>;

export interface StatusBoardOptions {
  readonly later: Later;
  now(): number;
  traffic(atMs: number): Traffic;
  subscriptions(atMs: number): Readonly<Record<string, SubscriptionState>>;
  tell(status: ConnectionStatus): void;
}

const NOTHING: StatusFacts = {
  phase: 'idle',
  door: undefined,
  session: undefined,
  trouble: undefined,
  attempts: 0,
  retryAtMs: undefined,
};

/** The status of a connection: reports every change to the page, and the rates a few times a second. */
export class StatusBoard {
  readonly #options: StatusBoardOptions;
  #facts: StatusFacts = NOTHING;
  #cancel = (): void => {};

  constructor(options: StatusBoardOptions) {
    this.#options = options;
  }

  get facts(): StatusFacts {
    return this.#facts;
  }

  /** Changes without a report: the next report contains them. */
  note(changes: Partial<StatusFacts>): void {
    this.#facts = { ...this.#facts, ...changes };
  }

  set(changes: Partial<StatusFacts>): void {
    this.note(changes);
    this.tell();
  }

  tell(): void {
    const { now, later, traffic, subscriptions, tell } = this.#options;
    const atMs = now();
    tell({ ...this.#facts, traffic: traffic(atMs), subscriptions: subscriptions(atMs) });
    this.#cancel();
    if (this.#facts.phase !== 'idle') this.#cancel = later(() => this.tell(), STATUS_INTERVAL_MS);
  }
}
