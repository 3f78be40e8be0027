import type { Awaitable } from '../flow.ts';
import type { Message } from '../message.ts';
import type { Delivery } from '../session.ts';

/** A message with the recipients to which it has not been sent yet. */
export interface Routed {
  readonly message: Message;
  readonly deliveries: readonly Delivery[];
  /** How often a copy of a shared subscription may still be passed on to another member. */
  readonly passes: number;
}

/**
 * Gathers the messages that one event has caused, for a door whose stores are far away: `Broker.deliverAll` then offers
 * all of them at once. No client may be answered before.
 */
export interface Outbox {
  add(routed: Routed): void;
  /** Delivers what it holds, if a message of the topic is among that. */
  flush(topic: string): Awaitable<void>;
  /** To be done when all that the event has caused has left, and not before. */
  whenLeft(does: () => Awaitable<void>): void;
}
