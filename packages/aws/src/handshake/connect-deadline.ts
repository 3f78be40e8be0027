import type { Clock, ConnectionId, LinkState, LinkStore, Log } from '@apus/broker';
import type { Poster } from '../posts/poster.ts';
import type { SqsTimers } from '../timers/sqs-timers.ts';

/** As long as at the node door. A client that has a password sends CONNECT at once. */
const CONNECT_SECONDS = 10;

/** The gateway's clock, which says when a connection began, may be ahead of a function's. */
const SKEW_MS = 1_000;

export interface ConnectDeadlineOptions {
  readonly links: Pick<LinkStore, 'load' | 'end'>;
  readonly poster: Pick<Poster, 'delete'>;
  readonly timers: SqsTimers;
  /** Whether a client has to show an identity, in the handshake or by CONNECT. */
  readonly isAsked: boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Closes connections whose handshake has shown no token, if CONNECT shows no password in time [SEC-MEMORY-6].
 * Strangers may open these, and each holds one of the account's connections. All other connections have a token, and
 * are left to the sweep: a timer for each would cost too much.
 */
export class ConnectDeadline {
  readonly #options: ConnectDeadlineOptions;

  constructor(options: ConnectDeadlineOptions) {
    this.#options = options;
  }

  /**
   * A handshake without a token was accepted. If the queue does not answer, the first frame or the sweep checks the
   * time.
   */
  async arm(connectionId: ConnectionId): Promise<void> {
    const { timers, isAsked, clock, log } = this.#options;
    if (!isAsked) return;
    const session = { tenant: '', clientId: '', incarnation: '' };
    const dueAtMs = clock.now() + CONNECT_SECONDS * 1_000;
    await timers.arm({ kind: 'connect', session, connectionId, dueAtMs }).catch((error: Error) => {
      log.warn('connect-deadline-failed', { connectionId, error: error.message });
    });
  }

  /** The timer is due. */
  async fire(connectionId: ConnectionId): Promise<void> {
    const state = (await this.#options.links.load(connectionId)) ?? { phase: 'closed' };
    if (state.phase === 'new' || state.phase === 'authenticating') await this.cut(connectionId);
  }

  /** A frame comes on a connection without an identity after its time: the timer is late, or was lost. */
  isOver(state: LinkState, connectedAtMs: number): boolean {
    const { isAsked, clock } = this.#options;
    if (!isAsked || state.phase !== 'new' || state.identity !== undefined) return false;
    return clock.now() - connectedAtMs > CONNECT_SECONDS * 1_000 + SKEW_MS;
  }

  /** Writes the tombstone first, against a CONNECT that another handler is working on. */
  async cut(connectionId: ConnectionId): Promise<void> {
    const { links, poster, log } = this.#options;
    log.info('connect-timeout', { connectionId });
    await links.end(connectionId);
    await poster.delete(connectionId);
  }
}
