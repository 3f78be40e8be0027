import type { Awaitable } from '../model/flow.ts';
import type { Publisher } from '../model/identity.ts';
import type { Message } from '../model/message.ts';

/** Hands messages to another system, before subscribers get them and before their publisher is answered. */
export interface Outlet {
  /**
   * True: the other system has the message. False: it has not, and the publisher has to send it again later (0x97).
   * Undefined: no message of this topic leaves.
   *
   * @param isAnswered the publisher waits for an answer. If it does not, the outlet does what it can, and returns
   *   true at once
   */
  take(tenant: string, message: Message, isAnswered: boolean): Awaitable<boolean> | undefined;

  /**
   * Whether the queues of messages that leave later have room. Asked in the turn in which a message is queued, so that
   * no acknowledged message is dropped. Absent if there are no such queues.
   */
  hasRoom?(tenant: string, message: Message, publisher: Publisher | undefined): boolean;

  /** Told in the turn in which a message of QoS 1 or 2 is queued, right before. */
  queued?(tenant: string, message: Message, publisher: Publisher | undefined): void;
}
