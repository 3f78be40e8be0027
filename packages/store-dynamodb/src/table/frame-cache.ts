import type { ConnectionId, MatchedFilter } from '@apus/broker';
import type { Item } from './values.ts';

/**
 * What one frame has read ahead. A Lambda environment handles one event at a time, and between the begin and the end
 * of a frame each topic is matched once. Nothing here outlives the frame, and a subscription that the frame itself
 * writes empties it.
 */
export class FrameCache {
  #isOpen = false;
  #link: { readonly connectionId: ConnectionId; readonly item: Item | undefined } | undefined;
  readonly #matched = new Map<string, Promise<readonly MatchedFilter[]>>();
  #looksAtEnd = false;
  #isReplyWanted = true;
  #isLookOwed = false;
  #isMoreWaiting = false;

  /**
   * `looksAtEnd`: the caller asks at the end whether a look at the queue is owed. `isReplyWanted`: what is drawn leaves
   * with a reply that the client waits for.
   */
  begin(looksAtEnd = false, isReplyWanted = true): void {
    this.end();
    this.#isOpen = true;
    this.#looksAtEnd = looksAtEnd;
    this.#isReplyWanted = isReplyWanted;
  }

  end(): void {
    this.#isOpen = false;
    this.#link = undefined;
    this.#looksAtEnd = false;
    this.#isReplyWanted = true;
    this.#isLookOwed = false;
    this.#isMoreWaiting = false;
    this.forgetMatches();
  }

  /** What is drawn leaves when a frame has been handled, beside other frames and in no order with them. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** What is drawn leaves in pushes: other frames of the connection may be handled at the same time. */
  get isPushing(): boolean {
    return this.#isOpen && !this.#isReplyWanted;
  }

  keepLink(connectionId: ConnectionId, item: Item | undefined): void {
    this.#link = { connectionId, item };
  }

  hasLink(connectionId: ConnectionId): boolean {
    return this.#link?.connectionId === connectionId;
  }

  /** Once: whoever loads again wants to know what has happened meanwhile. */
  takeLink(connectionId: ConnectionId): Item | undefined {
    const link = this.#link;
    this.#link = undefined;
    return link?.connectionId === connectionId ? link.item : undefined;
  }

  keepMatch(tenant: string, topicName: string, matched: Promise<readonly MatchedFilter[]>): void {
    if (this.#isOpen) this.#matched.set(`${tenant}\0${topicName}`, matched);
  }

  matchOf(tenant: string, topicName: string): Promise<readonly MatchedFilter[]> | undefined {
    return this.#matched.get(`${tenant}\0${topicName}`);
  }

  /** Whoever matches the topic again reads again. */
  forgetMatch(tenant: string, topicName: string): void {
    this.#matched.delete(`${tenant}\0${topicName}`);
  }

  /** After an acknowledgement: true when the look for what may be sent next can wait until the end of the frame. */
  oweLook(): boolean {
    this.#isLookOwed ||= this.#looksAtEnd;
    return this.#looksAtEnd;
  }

  /** True once. */
  takeOwedLook(): boolean {
    const isOwed = this.#isLookOwed;
    this.#isLookOwed = false;
    return isOwed;
  }

  /** The last that was drawn for the frame's client leaves something behind, or nothing. */
  noteMore(isMoreWaiting: boolean): void {
    if (this.#isOpen) this.#isMoreWaiting = isMoreWaiting;
  }

  /** The frame's reply says that more waits. */
  get isMoreWaiting(): boolean {
    return this.#isMoreWaiting;
  }

  forgetMatches(): void {
    this.#matched.clear();
  }
}
