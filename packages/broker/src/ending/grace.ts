import type { BrokerOptions } from '../model/limits.ts';

/** How long a will waits after its connection has ended. */
export interface Grace {
  readonly seconds: number;
  /** See `WillDue`. */
  readonly isWithdrawnByReturn: boolean;
}

export const NO_GRACE: Grace = { seconds: 0, isWithdrawnByReturn: false };

/** A loss as the door that noticed it describes it. */
export interface Loss {
  /** When the connection ended, in ms since the epoch, where that is known. Default: now. */
  readonly atMs?: number | undefined;
  /** Whether the door's platform cut it for its age (`BrokerOptions.connectionLife`). Default: its age tells. */
  readonly wasCut?: boolean | undefined;
}

/** CONNECT comes some time after the handshake, and the clock of another process may have timed it. */
const LIFE_MARGIN_SECONDS = 60;

/** Whether a connection that ended at this moment had reached the end of its life. */
export function wasCutForAge(
  { connectionLife }: BrokerOptions,
  connectedAtMs: number,
  atMs: number,
): boolean {
  if (connectionLife === undefined) return false;
  return atMs - connectedAtMs >= (connectionLife.seconds - LIFE_MARGIN_SECONDS) * 1000;
}

/**
 * How long the will of a lost connection waits: for its client, or for a DISCONNECT that another handler is
 * committing.
 */
export function graceOf(options: BrokerOptions, connectedAtMs: number, atMs: number, loss: Loss): Grace {
  const { lossGraceSeconds, connectionLife } = options;
  const wasCut = loss.wasCut ?? wasCutForAge(options, connectedAtMs, atMs);
  return connectionLife !== undefined && wasCut
    ? { seconds: connectionLife.graceSeconds, isWithdrawnByReturn: true }
    : { seconds: lossGraceSeconds, isWithdrawnByReturn: false };
}
