import type { Publisher } from './identity.ts';
import type { MessageOrigin } from './message-origin.ts';
import type { OrderedPublish } from './publish-order.ts';

export type Accepted = 'delivered' | 'no-matching-subscribers';

export type AcceptOutcome =
  | Accepted
  /** As many messages are retained as may be. */
  | 'retained-quota-exceeded'
  /** The workers of a wide filter are too far behind: the queue takes no more of their jobs for now. */
  | 'backlog-full'
  /** The publisher has caused as many deliveries as its quota allows for now. */
  | 'deliveries-exceeded'
  /** The publisher has had as much written as its quota allows for now. */
  | 'writes-exceeded'
  /** The broker would have to keep the message, and has no memory for it now. */
  | 'memory-full'
  | 'tenant-queues-full'
  /** Too many handlers publish to one topic of a stream: this one found no free place in the topic's log. */
  | 'stream-contended'
  /** A room, or one of the limits on rooms, has no place for the member. */
  | `presence-${PresenceRefusal}`
  /** As many delayed messages wait as may. */
  | 'delays-full'
  /** The system to which the message leaves (an `Outlet`) does not take it now. */
  | 'outlet-refused'
  /** Another process had no room in its outlet for the message, and said so when other subscribers had it already. */
  | 'outlet-refused-late';

export interface AcceptOptions {
  /** The publisher that is charged for the deliveries. @default none */
  readonly publisher?: Publisher | undefined;
  /** The message was accepted before, perhaps by a process that died before it finished. @default false */
  readonly isRepeat?: boolean;
  /** The message is a will: no client waits for an answer. @default false */
  readonly isWill?: boolean;
  /** A stream takes the message once, however often its source hands it over. @default it comes once */
  readonly origin?: MessageOrigin | undefined;
  /** The message among those of its publisher that are accepted at the same time. @default it is the only one */
  readonly ordered?: OrderedPublish | undefined;
}

/** The broker has refused the message: the sender may send it again. */
export function isRefused(outcome: AcceptOutcome): boolean {
  return outcome !== 'delivered' && outcome !== 'no-matching-subscribers';
}

/** Why a member is refused. */
export type PresenceRefusal = 'room-full' | 'owners-full' | 'rooms-full' | 'memory-full';
