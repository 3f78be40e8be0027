import type { DynamoDbFaults, Faults } from '@apus/emulated-aws';
import { drawOf } from './draws.ts';

/** Every kind of random fault, by name. */
export const FAULT_KINDS = [
  /** An environment dies before or after a call to a store or a queue. */
  'kill-at-checkpoint',
  /** An environment dies before or after a call to the gateway. */
  'kill-before-post',
  'kill-after-post',
  /** An environment dies when `$connect` has done its work: the handshake fails. */
  'dead-handshake',
  /** A frame is handled late, and may be concurrent with later ones. */
  'late-invocation',
  /** A reply, or `$disconnect`, comes late or never. */
  'late-reply',
  'no-reply',
  'late-disconnect',
  'no-disconnect',
  /** Connections break while a message, a reply or a post is on its way. */
  'cut',
  /** The one-way route of signs of life fails, and the gateway tells the client. */
  'alive-fails',
  'post-410',
  'post-429',
  'post-500',
  'post-500-after',
  /**
   * DynamoDB throttles, fails before and after its effect, loses answers, leaves keys of a batch unprocessed, and is
   * slow.
   */
  'store-throttles',
  'store-fails',
  'store-fails-after',
  'store-answer-lost',
  'store-unprocessed',
  'store-slow',
  /** SQS fails before and after its effect, delivers messages again, too early, or late. */
  'queue-fails',
  'queue-fails-after',
  'queue-entry-fails',
  'queue-throttles',
  'queue-redelivers',
  'queue-redelivers-early',
  'queue-slow',
  /** The sweep runs twice. */
  'sweep-twice',
  /** The clock of an environment is wrong by a second or less. */
  'clock-skew',
  /**
   * The target of a rule fails before and after its effect; a source delivers records again; both become unavailable.
   */
  'target-fails',
  'target-fails-after',
  'source-repeats',
  'outside-away',
] as const;

export type FaultKind = (typeof FAULT_KINDS)[number];

/** How often each kind strikes where it could. */
export type Rates = Readonly<Record<FaultKind, number>>;

export const DEFAULT_RATES: Rates = {
  'kill-at-checkpoint': 0.004,
  'kill-before-post': 0.005,
  'kill-after-post': 0.005,
  'dead-handshake': 0.01,
  'late-invocation': 0.05,
  'late-reply': 0.02,
  'no-reply': 0.005,
  'late-disconnect': 0.3,
  'no-disconnect': 0.3,
  cut: 0.002,
  'alive-fails': 0.05,
  'post-410': 0.0025,
  'post-429': 0.01,
  'post-500': 0.01,
  'post-500-after': 0.01,
  'store-throttles': 0.005,
  'store-fails': 0.005,
  'store-fails-after': 0.01,
  'store-answer-lost': 0.01,
  'store-unprocessed': 0.01,
  'store-slow': 0.01,
  'queue-fails': 0.02,
  'queue-fails-after': 0.02,
  'queue-entry-fails': 0.02,
  'queue-throttles': 0.01,
  'queue-redelivers': 0.03,
  'queue-redelivers-early': 0.02,
  'queue-slow': 0.05,
  'sweep-twice': 0.2,
  'clock-skew': 0.5,
  'target-fails': 0.1,
  'target-fails-after': 0.1,
  'source-repeats': 0.1,
  'outside-away': 0.02,
};

/** The occurrence number of the fault. */
export function kindOfFault(name: string): string {
  return name.split(' ', 1)[0] ?? '';
}

/** A longer delay than the longest wait for a reply would only be another loss. */
const LATE_MS_MAX = 3_000;
const STORE_SLOW_MS_MAX = 600;
const SKEW_MS_MAX = 1_000;

/** A fault that struck: its name contains its kind and occurrence. */
export interface Strike {
  readonly name: string;
  readonly kind: FaultKind;
  readonly subject: unknown;
}

export interface FaultPlanOptions {
  readonly seed: number;
  readonly rates: Rates;
  /**
   * The longest time that a frame, or an event, waits for its handler.
   * @default 3 s
   */
  readonly lateInvocationMsMax?: number | undefined;
  /**
   * Only these strike, whatever the rates are.
   * @default drawn from the seed
   */
  readonly only?: ReadonlySet<string> | undefined;
  readonly onStrike?: (strike: Strike) => void;
}

/**
 * The faults of one history. Each occurrence has a name, its kind and its number, and its own draw from the seed; so a
 * history can be repeated without some of its faults.
 */
export class FaultPlan {
  isActive = false;
  /** The faults have ended. */
  isOver = false;
  readonly struck: string[] = [];
  readonly #options: FaultPlanOptions;
  readonly #occasions = new Map<FaultKind, number>();

  constructor(options: FaultPlanOptions) {
    this.#options = options;
  }

  get seed(): number {
    return this.#options.seed;
  }

  get gateway(): Faults {
    return {
      shuffle: 1,
      killAtCheckpoint: this.#chance('kill-at-checkpoint'),
      killBeforeCall: this.#chance('kill-before-post'),
      killAfterCall: this.#chance('kill-after-post'),
      dropHandshake: this.#chance('dead-handshake'),
      invocationDelayMs: this.#delay('late-invocation', this.#options.lateInvocationMsMax ?? LATE_MS_MAX),
      replyDelayMs: this.#delay('late-reply', LATE_MS_MAX),
      dropReply: this.#chance('no-reply'),
      disconnectDelayMs: this.#delay('late-disconnect', 3 * LATE_MS_MAX),
      dropDisconnect: this.#chance('no-disconnect'),
      cut: this.#chance('cut'),
      mockFails: this.#chance('alive-fails'),
      postGone: this.#chance('post-410'),
      postThrottled: this.#chance('post-429'),
      postFails: this.#chance('post-500'),
      postFailsAfterwards: this.#chance('post-500-after'),
      sendFails: this.#chance('queue-fails'),
      sendFailsAfterwards: this.#chance('queue-fails-after'),
      sendEntryFails: this.#chance('queue-entry-fails'),
      sqsThrottled: this.#chance('queue-throttles'),
      redeliver: this.#chance('queue-redelivers'),
      redeliverDelayMs: (subject) => 1 + this.#amount('redelivered', subject) * LATE_MS_MAX,
      earlyRedelivery: this.#chance('queue-redelivers-early'),
      eventSourceDelayMs: this.#delay('queue-slow', LATE_MS_MAX),
      scheduleTwice: this.#chance('sweep-twice'),
      clockSkewMs: ({ environmentId }) => this.#skewMs(environmentId),
    };
  }

  get store(): DynamoDbFaults {
    return {
      // Calls that are made at the same time change places, always: the seed says how.
      shuffle: 1,
      latencyMs: this.#delay('store-slow', STORE_SLOW_MS_MAX),
      throttle: this.#chance('store-throttles'),
      fails: this.#chance('store-fails'),
      failsAfterwards: this.#chance('store-fails-after'),
      answerLost: this.#chance('store-answer-lost'),
      unprocessed: this.#chance('store-unprocessed'),
    };
  }

  /** Counts one more occurrence of this kind. */
  strikes(kind: FaultKind, subject: unknown): boolean {
    return this.#strikes(kind, subject) !== undefined;
  }

  #chance(kind: FaultKind): (subject: unknown) => boolean {
    return (subject) => this.strikes(kind, subject);
  }

  /** A delay from zero to this many milliseconds, if the fault strikes. */
  #delay(kind: FaultKind, msMax: number): (subject: unknown) => number {
    return (subject) => {
      const name = this.#strikes(kind, subject);
      return name === undefined ? 0 : Math.ceil(drawOf(this.#options.seed, `${name} ms`) * msMax);
    };
  }

  #skewMs(environmentId: string): number {
    const name = this.#strikes('clock-skew', environmentId);
    return name === undefined
      ? 0
      : Math.round((drawOf(this.#options.seed, `${name} ms`) * 2 - 1) * SKEW_MS_MAX);
  }

  #amount(name: string, _subject: unknown): number {
    return drawOf(this.#options.seed, `${name} ${this.struck.length}`);
  }

  /** The name of the occurrence if the fault strikes. */
  #strikes(kind: FaultKind, subject: unknown): string | undefined {
    if (!this.isActive) return undefined;
    const number = this.#occasions.get(kind) ?? 0;
    this.#occasions.set(kind, number + 1);
    const name = `${kind} ${number}`;
    const { seed, rates, only, onStrike } = this.#options;
    const strikes = only === undefined ? drawOf(seed, name) < rates[kind] : only.has(name);
    if (!strikes) return undefined;
    this.struck.push(name);
    onStrike?.({ name, kind, subject });
    return name;
  }
}
