import type { Awaitable } from '../model/flow.ts';
import type { Message } from '../model/message.ts';
import type { Delivery } from '../model/session.ts';

/** A message and the recipients that it still has to be sent to. */
export interface Routed {
  readonly message: Message;
  readonly deliveries: readonly Delivery[];
  /** How many more members of a share group the copy may be passed to. */
  readonly passes: number;
}

/**
 * Gathers the messages that one event has caused, for a door whose stores are far away: `Broker.deliverAll` offers
 * them all at once. The door answers the client after that.
 */
export interface Outbox {
  add(routed: Routed): void;
  /** Delivers everything it holds, if a message of this topic is among it. */
  flush(topic: string): Awaitable<void>;
  /** Runs `looks` when everything has left. It may cause more to be sent, and look again after that. */
  look(looks: () => Awaitable<void>): void;
  /** Runs `does` when everything that the event and its looks have caused has left, and not before. */
  whenLeft(does: () => Awaitable<void>): void;
}
