import type { Message } from '@apus/broker';

/** The part of a batch that did not arrive, and why. */
export interface Failure {
  /** The messages of the batch, in its order. */
  readonly messages: readonly Message[];
  readonly error: string;
  /** Another attempt would fail in the same way. */
  readonly isPermanent: boolean;
  /** The target asks for so much time. */
  readonly retryAfterMs?: number | undefined;
}

/** Where a rule sends messages. */
export interface Target {
  /** In the API and the log: `webhook`, and where to. */
  readonly type: string;
  readonly remote: string;
  readonly batch: BatchLimits;
  /** Undefined: all of the batch has arrived. It does not throw. */
  send(batch: readonly Message[]): Promise<Failure | undefined>;
  /** Calls that are under way fail. */
  stop(): Promise<void>;
}

export interface BatchLimits {
  readonly messagesMax: number;
  /** `messageBytes` of all; a larger message goes alone. */
  readonly bytesMax: number;
  /** The target may take a later message of a batch and refuse an earlier one: then each topic is in it once. */
  readonly isPartial: boolean;
}
