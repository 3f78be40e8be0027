import type { DynamoDbFaults, Faults } from '@apus/emulator';

/** How often each thing goes wrong while the plan is active. */
export interface Rates {
  /** An environment dies before or after any one call to a store, a queue or the gateway. */
  readonly kill: number;
  /** DynamoDB throttles, fails before and after its effect, and loses answers. */
  readonly store: number;
  /** SQS fails before and after its effect, and gives messages out again. */
  readonly queue: number;
  /** The gateway answers 429, 5xx and, of connections that are there, 410. */
  readonly post: number;
  /** A reply is lost. */
  readonly reply: number;
  /** `$disconnect` never comes. */
  readonly disconnect: number;
}

export const DEFAULT_RATES: Rates = {
  kill: 0.002,
  store: 0.01,
  queue: 0.02,
  post: 0.01,
  reply: 0.005,
  disconnect: 0.3,
};

/** Faults that can be turned off, so that a run can end with everything delivered. */
export class FaultPlan {
  isActive = false;
  readonly #rates: Rates;
  readonly #random: () => number;

  constructor(rates: Rates, random: () => number) {
    this.#rates = rates;
    this.#random = random;
  }

  get gateway(): Faults {
    const { kill, queue, post, reply, disconnect } = this.#rates;
    return {
      killAtCheckpoint: this.#at(kill),
      killBeforeCall: this.#at(kill),
      killAfterCall: this.#at(kill),
      postThrottled: this.#at(post),
      postFails: this.#at(post),
      postFailsAfterwards: this.#at(post),
      postGone: this.#at(post / 4),
      dropReply: this.#at(reply),
      dropDisconnect: this.#at(disconnect),
      sendFails: this.#at(queue),
      sendFailsAfterwards: this.#at(queue),
      sendEntryFails: this.#at(queue),
      redeliver: this.#at(queue),
      redeliverDelayMs: { minMs: 0, maxMs: 3_000 },
    };
  }

  get store(): DynamoDbFaults {
    const { store } = this.#rates;
    return {
      throttle: this.#at(store),
      fails: this.#at(store),
      failsAfterwards: this.#at(store),
      answerLost: this.#at(store),
      unprocessed: this.#at(store),
    };
  }

  #at(rate: number): () => boolean {
    return () => this.isActive && this.#random() < rate;
  }
}

/** Mulberry32: small, seeded, and good enough to throw dice. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
