import type { Message } from '@apus/broker';

/** The messages of a batch that did not arrive, and the reason. */
export interface Failure {
  /** The messages of the batch, in its order. */
  readonly messages: readonly Message[];
  readonly error: string;
  /** Another attempt would fail too. */
  readonly isPermanent: boolean;
  /** The target asks for this delay. */
  readonly retryAfterMs?: number | undefined;
}

/** The receiver of a rule's messages. */
export interface Target {
  /** For the API and the log: the kind, such as `webhook`, and the address. */
  readonly type: string;
  readonly remote: string;
  readonly batch: BatchLimits;
  /** Undefined: the whole batch has arrived. It does not throw. */
  send(batch: readonly Message[]): Promise<Failure | undefined>;
  /** Pending calls fail. */
  stop(): Promise<void>;
}

export interface BatchLimits {
  readonly messagesMax: number;
  /** The sum of `messageBytes` of a batch; a larger message goes alone. */
  readonly bytesMax: number;
  /**
   * The target may take a later message of a batch and refuse an earlier one: then a batch has only one message of each
   * topic.
   */
  readonly isPartial: boolean;
}
