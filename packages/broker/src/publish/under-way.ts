import type { Flow } from '../model/flow.ts';
import { Unavailable } from '../ports/index.ts';

/**
 * A port became unavailable when the packet was under way or had been answered, so the broker cannot refuse it any
 * more. It ends the connection instead, with the same reason code.
 */
export class UnderWay extends Unavailable {
  override readonly name = 'UnderWay';
  readonly reasonCode: number;

  constructor(cause: Unavailable) {
    super(cause.message, { cause });
    this.reasonCode = cause.reasonCode;
  }
}

/**
 * Marks the errors of a flow: from here on the packet cannot be refused. A client that gets PUBACK or PUBREC with an
 * error gives the message up, but some recipients may have it, or have it inflight:
 *
 *     publisher                          subscriber
 *     PUBLISH 5: put inflight for the subscriber; the next recipient's write is throttled, so nothing is posted
 *     (were it refused with PUBACK 0x97 …)
 *     PUBLISH 6
 *                                        6
 *                                        … and with the next connection what is inflight: 5 [MQTT-4.6.0-6]
 *
 * A client that is disconnected sends the message again, before anything newer [MQTT-4.4.0-1].
 */
export function* underWay<T>(flow: Flow<T>): Flow<T> {
  try {
    return yield* flow;
  } catch (error) {
    throw asUnderWay(error);
  }
}

/** Marks the error of a call. */
export function asUnderWay(error: unknown): unknown {
  return error instanceof Unavailable && !(error instanceof UnderWay) ? new UnderWay(error) : error;
}
