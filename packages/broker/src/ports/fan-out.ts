import type { Awaitable } from '../flow.ts';
import type { Message } from '../message.ts';
import type { ShareName } from '../session.ts';
import type { DeliveryPayer } from './delivery-quota.ts';

/** A filter with more subscribers than the process that took the PUBLISH should serve: the others are in shards. */
export interface WideFilter {
  readonly tenant: string;
  readonly topicFilter: string;
  /** Shards are numbered from 0; each is served by itself. */
  readonly shards: number;
  /** Its workers are so far behind that they should be given no more for a while. */
  readonly isBehind?: boolean;
}

/** Hands a message to workers that serve the shards of wide filters, in the order of the calls for each shard. */
export interface FanOut {
  /**
   * Takes responsibility for the message towards every subscriber in the shards of these filters. False when so much
   * waits for one of them already that no more is taken: then nothing was handed over.
   *
   * @param isAnswered whether the publisher waits for an answer: then the message may wait for room as well. @default false
   * @param payer is charged for the deliveries where they are made. @default none
   */
  accept(
    message: Message,
    filters: readonly WideFilter[],
    isAnswered?: boolean,
    payer?: DeliveryPayer,
  ): Awaitable<boolean>;

  /** Whether `accept` would take a message that first needs its place in a stream. */
  hasRoom(filters: readonly WideFilter[], message: Message): Awaitable<boolean>;

  /** Takes the message in any case: it has its place. */
  take(message: Message, filters: readonly WideFilter[], payer?: DeliveryPayer): void;

  /**
   * Gives a copy of a shared subscription, which no member here can have, to a member that only workers know. Resolves when
   * that one has it. @default there is none
   */
  passOn?(tenant: string, message: Message, share: ShareName): Awaitable<void>;

  /**
   * Resolves when the message that `accept` or `take` took is as durable as its QoS asks: until then its publisher is not answered.
   * False: a process had no room for it for too long, and others have it; only where its publisher waits for an answer.
   * @default it is when that call has answered
   */
  confirmed?(message: Message): Awaitable<boolean> | undefined;
}
