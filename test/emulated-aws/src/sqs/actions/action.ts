import type { SqsCall } from '../faults.ts';
import type { Input } from '../input.ts';
import type { Queue } from '../queue.ts';

export interface QueueRequest {
  readonly queue: Queue;
  readonly input: Input;
  readonly call: SqsCall;
  readonly senderId: string;
  /** Reports how many bytes of messages the request or its answer carries. */
  readonly bill: (payloadBytes: number) => void;
  /** Any of them aborts when the caller has gone. */
  readonly signals: readonly AbortSignal[];
  /**
   * A long poll waits for time or for other calls, and is no activity meanwhile; the returned function ends the pause.
   */
  readonly pause: () => () => void;
}

/** Returns the members of the response, or throws an `SqsError`. */
export type QueueAction = (request: QueueRequest) => object | Promise<object>;
