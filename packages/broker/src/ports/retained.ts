import type { Awaitable } from '../flow.ts';
import type { Message } from '../message.ts';
import type { QuotaHolder } from '../quota-holder.ts';
import type { PageLimit } from './page.ts';

export interface RetainedPage {
  readonly messages: readonly Message[];
  /** Where the next page begins; undefined after the last one. */
  readonly next: string | undefined;
}

/** How much may be retained for one tenant. */
export interface RetainedLimits {
  readonly messagesMax: number;
  /** As `retainedBytes` counts them. */
  readonly bytesMax: number;
  /** In whose name a message is retained. Undefined: of no client. */
  readonly holder?: RetainedHolder | undefined;
}

/** How much of its tenant's share one identity may retain. A message counts for its last publisher. */
export interface RetainedHolder {
  readonly holder: QuotaHolder;
  readonly messagesMax: number;
  readonly bytesMax: number;
}

export interface RetainedStore {
  /**
   * Keeps the message for its topic, unless one with a later id is there; true either way. False, and nothing changed,
   * when the tenant would have more messages or bytes than the limits then, and more than it has now: a topic's message
   * may always be replaced by one that is no larger. The limits of the message's holder apply in the same way to the
   * messages retained in the holder's name; a message that replaces another holder's counts for the new holder. The
   * payload is never empty [MQTT-3.3.1-7]. In the cloud the limits need not be exact.
   */
  put(tenant: string, message: Message, limits: RetainedLimits): Awaitable<boolean>;

  /**
   * Whether `put` would be true now. For a message that its stream may refuse, where several processes publish: it is put
   * when it has its place. Absent where one process serves all.
   */
  hasRoom?(tenant: string, message: Message, limits: RetainedLimits): Awaitable<boolean>;

  /** Removes the retained message of a topic, unless one with a later id than `before` is there. */
  delete(tenant: string, topicName: string, before: string): Awaitable<void>;

  /**
   * The retained messages whose topic names the filter matches and that have not expired, a page of at most `limit`
   * at a time, in an order of the store's own. `from` is the `next` of the page before. A topic whose message is there
   * from the first page to the last is in exactly one page; one that changes meanwhile may be missed or be in two.
   * Reading on comes to an end, and a page may be empty before it.
   */
  match(
    tenant: string,
    topicFilter: string,
    nowMs: number,
    from: string | undefined,
    limit: PageLimit,
  ): Awaitable<RetainedPage>;
}
