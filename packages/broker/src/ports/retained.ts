import type { Awaitable } from '../flow.ts';
import type { Message } from '../message.ts';

export interface RetainedPage {
  readonly messages: readonly Message[];
  /** Where the next page begins; undefined after the last one. */
  readonly next: string | undefined;
}

export interface RetainedStore {
  /**
   * Keeps the message for its topic, unless one with a later id is there. False when the store holds `maximum`
   * messages of the tenant already and this topic has none.
   */
  put(tenant: string, message: Message, maximum: number): Awaitable<boolean>;

  /** Removes the retained message of a topic, unless one with a later id than `before` is there. */
  delete(tenant: string, topicName: string, before: string): Awaitable<void>;

  /**
   * The retained messages whose topic names the filter matches and that have not expired, a page of at most `limit`
   * at a time. `from` is the `next` of the page before.
   */
  match(
    tenant: string,
    topicFilter: string,
    nowMs: number,
    from: string | undefined,
    limit: number,
  ): Awaitable<RetainedPage>;
}
