import type { Random } from './clock/random.ts';
import type { ConnectEvent, DisconnectEvent, MessageEvent, RouteEvent } from './gateway/events.ts';
import type { ScheduledEvent } from './lambda/schedule.ts';

/** A probability from 0 to 1, drawn from the emulator's seed, or a function that decides. */
export type Chance<Subject> = number | ((subject: Subject) => boolean);

/** Milliseconds, a range to draw from, or a function that decides. */
export type Delay<Subject> =
  | number
  | { readonly minMs: number; readonly maxMs: number }
  | ((subject: Subject) => number);

/** A call on the @connections API. */
export interface ManagementCall {
  readonly method: 'POST' | 'GET' | 'DELETE';
  readonly connectionId: string;
  /** Absent for a caller outside Lambda. */
  readonly environmentId?: string;
  /** The body of a POST. */
  readonly body?: string;
}

export interface Checkpoint {
  readonly environmentId: string;
  readonly name: string;
}

/** A message that has selected a route with a MOCK integration. */
export interface MockedMessage {
  readonly connectionId: string;
  readonly routeKey: string;
}

export interface CutPoint {
  readonly connectionId: string;
  /** Before a message is handled, before a reply or a post is sent. */
  readonly at: 'message' | 'reply' | 'post';
}

/** The faults, and how often each strikes. By default none does, except `shuffle`. */
export interface Faults {
  /**
   * Messages start, and replies and concurrent posts leave, in a random order, a few turns of the event loop late.
   * Posts that wait for each other keep their order.
   * @default 1
   */
  readonly shuffle?: number;
  /** Between an event and the invocation of its route. */
  readonly invocationDelayMs?: Delay<RouteEvent>;
  /**
   * The handler of `$connect` ran, and its result is lost: the handshake fails with 502, and `$disconnect` never comes.
   */
  readonly dropHandshake?: Chance<ConnectEvent>;
  /** Between a handler's result and the reply. */
  readonly replyDelayMs?: Delay<MessageEvent>;
  /** Between the end of a connection and its `$disconnect`, on top of `invocationDelayMs`. */
  readonly disconnectDelayMs?: Delay<DisconnectEvent>;
  /** The MOCK integration of a one-way route fails: the client is sent an error frame. */
  readonly mockFails?: Chance<MockedMessage>;
  /** The handler ran, and its reply is lost. */
  readonly dropReply?: Chance<MessageEvent>;
  /** `$disconnect` is best effort: it never comes. */
  readonly dropDisconnect?: Chance<DisconnectEvent>;
  /** The environment dies during a call: the call has no effect, and the invocation ends at its timeout. */
  readonly killBeforeCall?: Chance<ManagementCall>;
  /** The same after the call took effect, before its answer. */
  readonly killAfterCall?: Chance<ManagementCall>;
  /** The same at `environment.checkpoint(name)`. */
  readonly killAtCheckpoint?: Chance<Checkpoint>;
  /** A call of any method is answered 500, and has no effect. */
  readonly callFails?: Chance<ManagementCall>;
  /** A POST is answered 410 though the connection is there. */
  readonly postGone?: Chance<ManagementCall>;
  /** A POST is answered 429. */
  readonly postThrottled?: Chance<ManagementCall>;
  /** A POST is answered 500, and not sent. */
  readonly postFails?: Chance<ManagementCall>;
  /** A POST is sent, and answered 500: a caller that tries again doubles it. */
  readonly postFailsAfterwards?: Chance<ManagementCall>;
  /**
   * A POST is answered 200 before it is sent, and leaves late: two posts may change places even if the second was made
   * after the first had returned. It is not known whether AWS does this.
   */
  readonly postOvertaken?: Chance<ManagementCall>;
  /** A schedule's turn invokes its function twice: EventBridge promises at least once. */
  readonly scheduleTwice?: Chance<ScheduledEvent>;
  /** Between a schedule's turn and the invocation of its function. */
  readonly scheduleDelayMs?: Delay<ScheduledEvent>;
  /**
   * The clock of each execution environment is wrong by up to this many milliseconds, in either direction, for all its
   * life; or by the result of the function. Its timers run at normal speed.
   */
  readonly clockSkewMs?: number | ((environment: { readonly environmentId: string }) => number);
  /** The TCP connection breaks. */
  readonly cut?: Chance<CutPoint>;
}

export type FaultName = keyof Faults;

/** Draws for the faults, and counts those that strike. */
export class Dice<Name extends string = FaultName> {
  readonly #random: Random;
  readonly #onStrike: (name: Name) => void;

  constructor(random: Random, onStrike: (name: Name) => void) {
    this.#random = random;
    this.#onStrike = onStrike;
  }

  strikes<Subject>(name: Name, chance: Chance<Subject> | undefined, subject: Subject): boolean {
    if (chance === undefined) return false;
    const struck = typeof chance === 'function' ? chance(subject) : this.#random.happens(chance);
    if (struck) this.#onStrike(name);
    return struck;
  }

  skewMs(skew: Faults['clockSkewMs'], environmentId: string): number {
    if (skew === undefined || skew === 0) return 0;
    return typeof skew === 'function' ? skew({ environmentId }) : (this.#random.next() * 2 - 1) * skew;
  }

  delayMs<Subject>(delay: Delay<Subject> | undefined, subject: Subject): number {
    if (delay === undefined) return 0;
    if (typeof delay === 'number') return delay;
    if (typeof delay === 'function') return delay(subject);
    return delay.minMs + this.#random.next() * (delay.maxMs - delay.minMs);
  }
}
