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

  begin(): void {
    this.end();
    this.#isOpen = true;
  }

  end(): void {
    this.#isOpen = false;
    this.#link = undefined;
    this.forgetMatches();
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

  forgetMatches(): void {
    this.#matched.clear();
  }
}
