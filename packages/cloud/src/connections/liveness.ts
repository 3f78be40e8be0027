import type { Clock, ConnectionId, Log } from '@apus/broker';
import type { Outbox } from '../outbox.ts';
import type { Poster } from '../posts/poster.ts';
import type { TimerMessage, TimerSession } from '../timers/message.ts';
import type { SqsTimers } from '../timers/sqs-timers.ts';
import { loseConnection, movedTo } from './lose.ts';

/**
 * API Gateway closes a connection on which nothing went either way for ten minutes. Its close may be late, and clocks
 * disagree: a minute more, and the connection counts as dead.
 */
const CHECK_MS = 660_000;

/** Connections that a session has moved through since the last look. */
const MOVES_MAX = 8;

/** The delay before a gateway that did not answer is asked again. */
const UNKNOWN_MS = 60_000;

export interface LivenessOptions {
  readonly poster: Pick<Poster, 'get' | 'delete'>;
  readonly timers: SqsTimers;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Looks after connections that hold a will. `$disconnect` tells that a connection ended, but is best effort, and
 * subscribers wait for the will. So from CONNECT on a timer asks the gateway about the connection every eleven minutes,
 * until the connection is over.
 *
 * It costs $0.006 a month for a connection that is always there: 3,980 rings, each three SQS requests and a short
 * invocation. A connection without a will has no timer, and is found by the sweep.
 */
export class Liveness {
  readonly #options: LivenessOptions;

  constructor(options: LivenessOptions) {
    this.#options = options;
  }

  /** A connection with a will begins. */
  async arm(
    { tenant, clientId }: Pick<TimerSession, 'tenant' | 'clientId'>,
    connectionId: ConnectionId,
  ): Promise<void> {
    const { timers, clock } = this.#options;
    const session = { tenant, clientId, incarnation: '' };
    await timers.arm({ kind: 'liveness', session, connectionId, dueAtMs: clock.now() + CHECK_MS });
  }

  /** The timer is due. */
  async check(outbox: Outbox, timer: TimerMessage): Promise<void> {
    const { timers, clock } = this.#options;
    let present = timer;
    for (let hops = 0; hops < MOVES_MAX; hops += 1) {
      const againMs = await this.#msToNextCheck(present.connectionId);
      if (againMs !== undefined) return await timers.armAgain({ ...present, dueAtMs: clock.now() + againMs });
      const to = movedTo(await outbox.links.load(present.connectionId));
      if (to === undefined) break;
      present = { ...present, connectionId: to };
    }
    await this.#lose(outbox, present);
  }

  /** Undefined when the connection is over; one that hangs is cut. */
  async #msToNextCheck(connectionId: ConnectionId): Promise<number | undefined> {
    const { poster, clock } = this.#options;
    const status = await poster.get(connectionId);
    if (status === 'unknown') return UNKNOWN_MS;
    if (status === 'gone') return undefined;
    if (clock.now() - status.lastActiveAtMs <= CHECK_MS) return CHECK_MS;
    await poster.delete(connectionId);
    return undefined;
  }

  /** Also when another process wrote the tombstone and died before it told the session. */
  async #lose(outbox: Outbox, { session: { tenant, clientId }, connectionId }: TimerMessage): Promise<void> {
    this.#options.log.info('connection-found-dead', { connectionId, clientId });
    await loseConnection(outbox, connectionId, 'found dead');
    await outbox.broker.lostUnnoticed(tenant, clientId, connectionId);
  }
}
