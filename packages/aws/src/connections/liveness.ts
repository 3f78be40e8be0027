import type { Clock, ConnectionId, Log } from '@apus/broker';
import type { Outbox } from '../outbox.ts';
import type { Poster } from '../posts/poster.ts';
import type { TimerMessage, TimerSession } from '../timers/message.ts';
import type { SqsTimers } from '../timers/sqs-timers.ts';
import { loseConnection, movedTo } from './lose.ts';

/**
 * API Gateway closes a connection that was idle for ten minutes. Its close may be late, and clocks disagree: after one
 * minute more the connection counts as dead.
 */
const CHECK_MS = 660_000;

/** Connections that a session has moved through since the last check. */
const MOVES_MAX = 8;

/** When the gateway is asked again after it did not answer. */
const UNKNOWN_MS = 60_000;

export interface LivenessOptions {
  readonly poster: Pick<Poster, 'get' | 'delete'>;
  readonly timers: SqsTimers;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Watches connections with a will. `$disconnect` reports the end of a connection by best effort only, and subscribers
 * wait for the will. So from CONNECT on a timer asks the gateway about the connection every eleven minutes, until it
 * is over.
 *
 * It costs $0.006 a month for a connection that is always there: 3,980 timers, each three SQS requests and a short
 * invocation. A connection without a will has no timer: the sweep finds its end.
 */
export class Liveness {
  readonly #options: LivenessOptions;

  constructor(options: LivenessOptions) {
    this.#options = options;
  }

  /** A connection with a will begins: arms its timer. */
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

  /** Undefined: the connection is over. A connection that hangs is closed. */
  async #msToNextCheck(connectionId: ConnectionId): Promise<number | undefined> {
    const { poster, clock } = this.#options;
    const status = await poster.get(connectionId);
    if (status === 'unknown') return UNKNOWN_MS;
    if (status === 'gone') return undefined;
    if (clock.now() - status.lastActiveAtMs <= CHECK_MS) return CHECK_MS;
    await poster.delete(connectionId);
    return undefined;
  }

  /** Tells the session, even if another process has written the tombstone: it may have died after that. */
  async #lose(outbox: Outbox, { session: { tenant, clientId }, connectionId }: TimerMessage): Promise<void> {
    this.#options.log.info('connection-found-dead', { connectionId, clientId });
    await loseConnection(outbox, connectionId, 'found dead');
    await outbox.broker.lostUnnoticed(tenant, clientId, connectionId);
  }
}
