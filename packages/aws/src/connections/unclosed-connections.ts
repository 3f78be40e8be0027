import type { Clock, ConnectionId, Log } from '@apus/broker';
import { CONNECTION_SECONDS_MAX } from '../options.ts';
import type { Poster } from '../posts/poster.ts';
import type { TimerMessage } from '../timers/message.ts';
import type { SqsTimers } from '../timers/sqs-timers.ts';

const AGAIN_SECONDS = 10;

export interface UnclosedConnectionsOptions {
  readonly poster: Poster;
  readonly timers: SqsTimers;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Connections that have to be closed while the gateway does not answer. Their items say that they have ended, so they
 * are sent nothing more, and a client that is not cut would not know it before its next frame. A timer closes them:
 *
 *     handler                            gateway                client
 *     posts a message: 500               has trouble
 *     ends the item; DELETE: 500
 *     arms the timer; PUBACK
 *                                        works again
 *     timer: DELETE                                             is cut, comes back, is sent what waits for it
 */
export class UnclosedConnections {
  readonly #options: UnclosedConnectionsOptions;

  constructor(options: UnclosedConnectionsOptions) {
    this.#options = options;
  }

  /** A poster whose `delete` arms the timer if the gateway does not answer. */
  get poster(): Poster {
    const { poster } = this.#options;
    return {
      post: (...call) => poster.post(...call),
      get: (...call) => poster.get(...call),
      delete: async (connectionId) => {
        const isClosed = await poster.delete(connectionId);
        if (!isClosed) await this.#arm(connectionId);
        return isClosed;
      },
    };
  }

  /** The timer is due. The gateway itself cuts a connection at its greatest age. */
  async fire(timer: TimerMessage): Promise<void> {
    const { poster, timers, clock } = this.#options;
    if (clock.now() - timer.dueAtMs > CONNECTION_SECONDS_MAX * 1_000) return;
    if (!(await poster.delete(timer.connectionId))) await timers.armAgain(timer, AGAIN_SECONDS);
  }

  async #arm(connectionId: ConnectionId): Promise<void> {
    const { timers, clock, log } = this.#options;
    log.warn('connection-not-closed', { connectionId });
    const session = { tenant: '', clientId: '', incarnation: '' };
    const dueAtMs = clock.now() + AGAIN_SECONDS * 1_000;
    await timers.arm({ kind: 'close', session, connectionId, dueAtMs }).catch((error: unknown) => {
      log.error('connection-left-open', { connectionId, error: String(error) });
    });
  }
}
