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
  readonly #drawnFor = new Set<string>();

  begin(): void {
    this.end();
    this.#isOpen = true;
  }

  end(): void {
    this.#isOpen = false;
    this.#link = undefined;
    this.#drawnFor.clear();
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

  /** Messages of this session's queue will leave with the frame's reply. */
  noteDrawn(sessionKey: string): void {
    if (this.#isOpen) this.#drawnFor.add(sessionKey);
  }

  hasDrawn(sessionKey: string): boolean {
    return this.#drawnFor.has(sessionKey);
  }

  forgetMatches(): void {
    this.#matched.clear();
  }
}
