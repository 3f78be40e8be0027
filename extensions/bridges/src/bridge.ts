import type { Awaitable } from '@apus/broker';

/** The state of a bridge's connection to the other system. */
export type BridgeState = 'connecting' | 'connected' | 'disconnected' | 'stopped';

/** Counters of messages: those that crossed, and those that did not, by reason. */
export interface BridgeCounts {
  /** Messages that are durable at the receiving side. */
  forwarded: number;
  /** Messages that the other side refused for good: the bridge gave them up. */
  refused: number;
  /** Messages that had crossed as many bridges as allowed. */
  looped: number;
  /** QoS 0 messages that no side could take, and messages that no side can ever take. */
  dropped: number;
}

export function newCounts(): BridgeCounts {
  return { forwarded: 0, refused: 0, looped: 0, dropped: 0 };
}

/** One bridge to another system. */
export interface Bridge {
  readonly name: string;
  readonly tenant: string;
  /** Prepares this side and begins to connect to the other one. It does not wait for the connection. */
  start(): Promise<void>;
  status(): Awaitable<object>;
  stop(): Promise<void>;
}

/** The state of a connection, and since when. Each change is logged. */
export class StateKeeper {
  state: BridgeState = 'connecting';
  sinceMs: number;
  lastError: string | undefined;
  readonly #nowMs: () => number;
  readonly #changed: (state: BridgeState, why: string | undefined) => void;

  constructor(nowMs: () => number, changed: (state: BridgeState, why: string | undefined) => void) {
    this.#nowMs = nowMs;
    this.#changed = changed;
    this.sinceMs = nowMs();
  }

  set(state: BridgeState, why?: string): void {
    const isNews = state !== this.state || (why !== undefined && why !== this.lastError);
    if (why !== undefined) this.lastError = why;
    if (state !== this.state) this.sinceMs = this.#nowMs();
    this.state = state;
    if (isNews) this.#changed(state, why);
  }

  toJSON(): object {
    return {
      status: this.state,
      since: new Date(this.sinceMs).toISOString(),
      last_error: this.lastError ?? null,
    };
  }
}
