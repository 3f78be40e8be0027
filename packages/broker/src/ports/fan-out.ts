import type { Awaitable } from '../model/flow.ts';
import type { Message } from '../model/message.ts';
import type { DeliveryPayer } from '../model/quota-holder.ts';
import type { ShareName } from '../model/session.ts';

/** A filter with more subscribers than one process should serve: the others stand in shards. */
export interface WideFilter {
  readonly tenant: string;
  readonly topicFilter: string;
  /** Shards are numbered from 0. Each is served by itself. */
  readonly shards: number;
  /** Its workers are so far behind that they should get no more for a while. */
  readonly isBehind?: boolean;
}

/** Hands a message to workers that serve the shards of wide filters, in the order of the calls for each shard. */
export interface FanOut {
  /**
   * Takes responsibility for the message towards every subscriber in the shards of these filters. False when so much
   * waits for one of them that no more is taken: then nothing was handed over.
   *
   * @param isAnswered the publisher waits for an answer: then the message may wait for room as well. @default false
   * @param payer is charged for the deliveries by the process that makes them. @default none
   */
  accept(
    message: Message,
    filters: readonly WideFilter[],
    isAnswered?: boolean,
    payer?: DeliveryPayer,
  ): Awaitable<boolean>;

  /** Whether `accept` would take a message that first needs its place in a stream. */
  hasRoom(filters: readonly WideFilter[], message: Message): Awaitable<boolean>;

  /** Takes the message even if the queues are full: it has its place in a stream, and cannot be refused any more. */
  take(message: Message, filters: readonly WideFilter[], payer?: DeliveryPayer): void;

  /**
   * Passes a copy of a shared subscription, which has no member in this process, to a member that only workers know.
   * Resolves when that member has it. @default there is none
   */
  passOn?(tenant: string, message: Message, share: ShareName): Awaitable<void>;

  /**
   * Resolves when the message of the last `accept` or `take` is as durable as its QoS asks: until then its publisher
   * is not answered. False: a process had no room for it for too long, although others have it; only if the publisher
   * waits for an answer. @default the message is durable when `accept` or `take` returns
   */
  confirmed?(message: Message): Awaitable<boolean> | undefined;
}
