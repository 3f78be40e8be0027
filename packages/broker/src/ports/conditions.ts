import type { Awaitable } from '../model/flow.ts';
import type { Message } from '../model/message.ts';

/** Conditions of subscriptions (`where`), which an extension evaluates: it is loaded when the first one comes. */
export interface Conditions {
  /** Undefined: the condition may be used from now on. Otherwise what is wrong with it. */
  check(where: string): Awaitable<string | undefined>;

  /**
   * Whether the message fits. A condition that fails on it does not. It is evaluated once for a message, however many
   * subscribers have it. The extension has been loaded: before sessions were restored, or by `check`.
   */
  fits(where: string, message: Message): boolean;

  /** Deliveries that take as long as all evaluations so far. */
  readonly spent: number;
}
