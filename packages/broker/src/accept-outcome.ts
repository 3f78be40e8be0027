import type { PresenceRefusal, Publisher } from './ports/index.ts';

export type AcceptOutcome =
  | 'delivered'
  | 'no-matching-subscribers'
  /** As many messages are retained as may be. */
  | 'retained-quota-exceeded'
  /** The workers of a wide filter are so far behind that they are given no more. */
  | 'backlog-full'
  /** The publisher has caused as many deliveries as it may for now. */
  | 'deliveries-exceeded'
  /** The publisher has had as much written as it may for now. */
  | 'writes-exceeded'
  /** The message would have to be kept, and there is no memory for it now. */
  | 'memory-full'
  /** The queues of the tenant hold as much as they may. */
  | 'tenant-queues-full'
  /** Too many handlers publish to one topic of a stream: the message found no place in its log. */
  | 'stream-contended'
  /** A room, or one of the limits on rooms, has no place for the member. */
  | `presence-${PresenceRefusal}`
  /** As many messages wait to be published later as may. */
  | 'delays-full'
  /** The system that the message leaves for does not take it now. */
  | 'outlet-refused';

export interface AcceptOptions {
  /** The publisher that is charged for the deliveries. @default none */
  readonly publisher?: Publisher | undefined;
  /** The message was accepted before, perhaps by a process that died before it finished. @default false */
  readonly isRepeat?: boolean;
  /** The message is a will: no client waits for an answer. @default false */
  readonly isWill?: boolean;
}

/** The broker has refused the message: the sender may send it again. */
export function isRefused(outcome: AcceptOutcome): boolean {
  return outcome !== 'delivered' && outcome !== 'no-matching-subscribers';
}
