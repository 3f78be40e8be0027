import type { Awaitable } from '../flow.ts';
import type { Message } from '../message.ts';

/** A way to another system, which has a message before its publisher is answered and before subscribers get it. */
export interface Outlet {
  /**
   * True: the other system has the message. False: it does not, and the publisher is to send it again later (0x97).
   * Undefined: nothing of this topic leaves.
   *
   * @param isAnswered whether the publisher waits for an answer; where it does not, the outlet does what it can, and
   * says true at once
   */
  take(tenant: string, message: Message, isAnswered: boolean): Awaitable<boolean> | undefined;

  /**
   * Whether the queues have room out of which messages leave later. Asked in the turn in which a message is queued, so
   * that none gives way that was acknowledged. Absent where there are no such queues.
   */
  hasRoom?(tenant: string, message: Message): boolean;
}
