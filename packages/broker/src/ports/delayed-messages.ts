import type { Awaitable } from '../model/flow.ts';
import type { Publisher } from '../model/identity.ts';
import type { Message } from '../model/message.ts';

/** Messages that are published later: `$delayed/SECONDS/TOPIC`. */
export interface DelayedMessages {
  /**
   * Keeps the message until it is due; its topic is the one under which subscribers get it. True: it is as durable as
   * the store is. False: as many wait as may, and the publisher has to send it again later (0x97).
   */
  keep(
    tenant: string,
    message: Message,
    dueAtMs: number,
    publisher: Publisher | undefined,
  ): Awaitable<boolean>;
  /** Writes that the publisher is charged for a message with this delay. @default none */
  writesOf?(delaySeconds: number): number;
}
