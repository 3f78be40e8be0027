import type { Awaitable } from '../model/flow.ts';
import type { Message } from '../model/message.ts';
import type { PageLimit } from '../model/page.ts';
import type { RetainedHolder } from '../model/quota-holder.ts';

export interface RetainedPage {
  readonly messages: readonly Message[];
  /** The cursor of the next page; undefined after the last one. */
  readonly next: string | undefined;
  /**
   * Entries that the store has looked at; where it is billed by read units, the entries that cost as much.
   *
   * @default as many as there are messages
   */
  readonly lookedAt?: number;
  /** Read units that the store was billed for it. @default it is not billed by them */
  readonly readUnits?: number;
}

/** How much may be retained for one tenant. */
export interface RetainedLimits {
  readonly messagesMax: number;
  /** As `retainedBytes` counts them. */
  readonly bytesMax: number;
  /** The holder for whom the message is retained. Undefined: no client. */
  readonly holder?: RetainedHolder | undefined;
}

export interface RetainedStore {
  /**
   * Retains the message for its topic, unless a message with a later id is there; returns true either way. Returns
   * false, and changes nothing, if the tenant would then have more messages or bytes than the limits allow, and more
   * than now: a message may always be replaced by one that is no larger. The limits of the holder apply in the same
   * way to the messages retained for the holder; a message that replaces another holder's counts for the new holder.
   * The payload is never empty [MQTT-3.3.1-7]. In the cloud the limits need not be exact.
   */
  put(tenant: string, message: Message, limits: RetainedLimits): Awaitable<boolean>;

  /**
   * Whether `put` would return true now: for a message that its stream may refuse, and that is retained after it has
   * its place. Absent if one process serves all clients.
   */
  hasRoom?(tenant: string, message: Message, limits: RetainedLimits): Awaitable<boolean>;

  /** Deletes the retained message of a topic, unless its id is later than `before`. */
  delete(tenant: string, topicName: string, before: string): Awaitable<void>;

  /**
   * The retained messages whose topic names the filter matches and that have not expired, at most a page of `limit`,
   * in an order of the store's own. `from` is the `next` of the previous page. A message that stays from the first
   * page to the last is in exactly one page; one that changes in between may be in two, or in none. The pages come to
   * an end; a page before it may be empty.
   */
  match(
    tenant: string,
    topicFilter: string,
    nowMs: number,
    from: string | undefined,
    limit: PageLimit,
  ): Awaitable<RetainedPage>;
}
