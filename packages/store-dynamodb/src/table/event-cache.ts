import type { ConnectionId, MatchedFilter } from '@apus/broker';
import type { Item } from './values.ts';

/** Tells the stores of what kind an event is. */
export interface EventKind {
  /** The connection whose frame is handled. Absent: the event is no frame. */
  readonly connectionId?: ConnectionId;
  /**
   * After the packets the caller asks `takeDrainDue`, and drains: so a frame of many acknowledgements dequeues once.
   * @default each acknowledgement dequeues
   */
  readonly looksAtEnd?: boolean;
  /** The client sends no other frame that may dequeue before it has the reply. @default true */
  readonly isReplyWanted?: boolean;
  /** The frame holds one packet. @default false */
  readonly isOnePacket?: boolean;
}

/**
 * The cache of one event: items that were read ahead, and matches. Each topic is matched once; a subscription that the
 * event writes empties the cache. Kind `undefined`: there is no event, and nothing is cached.
 */
export class EventCache {
  readonly #kind: EventKind | undefined;
  #link: { readonly connectionId: ConnectionId; readonly item: Item | undefined } | undefined;
  readonly #matched = new Map<string, Promise<readonly MatchedFilter[]>>();
  #isDrainDue = false;
  #isMoreWaiting = false;

  constructor(kind?: EventKind) {
    this.#kind = kind;
  }

  /** Whether a dequeued page leaves when the event has been handled. */
  get isOpen(): boolean {
    return this.#kind !== undefined;
  }

  /** Whether dequeued packets would leave in pushes: other frames of the connection may be handled at the same time. */
  get isPushing(): boolean {
    return this.#kind?.isReplyWanted === false;
  }

  /** Whether the event is a frame of one packet: nothing else will use what that packet reads. */
  get isOnePacket(): boolean {
    return this.#kind?.isOnePacket === true;
  }

  /** Whether the event is a frame of this connection. */
  isOf(connectionId: ConnectionId): boolean {
    return this.#kind?.connectionId === connectionId;
  }

  keepLink(connectionId: ConnectionId, item: Item | undefined): void {
    this.#link = { connectionId, item };
  }

  hasLink(connectionId: ConnectionId): boolean {
    return this.#link?.connectionId === connectionId;
  }

  /** Only once: a second load has to read the present item. */
  takeLink(connectionId: ConnectionId): Item | undefined {
    const link = this.#link;
    this.#link = undefined;
    return link?.connectionId === connectionId ? link.item : undefined;
  }

  keepMatch(tenant: string, topicName: string, matched: Promise<readonly MatchedFilter[]>): void {
    if (this.isOpen) this.#matched.set(`${tenant}\0${topicName}`, matched);
  }

  matchOf(tenant: string, topicName: string): Promise<readonly MatchedFilter[]> | undefined {
    return this.#matched.get(`${tenant}\0${topicName}`);
  }

  /** Forgets the subscribers of a topic: the next match reads them again. */
  forgetMatch(tenant: string, topicName: string): void {
    this.#matched.delete(`${tenant}\0${topicName}`);
  }

  forgetMatches(): void {
    this.#matched.clear();
  }

  /** An acknowledgement has freed a place: the frame drains the queue at its end. */
  noteRoom(): void {
    this.#isDrainDue ||= this.#kind?.looksAtEnd === true;
  }

  /** True once. */
  takeDrainDue(): boolean {
    const isDue = this.#isDrainDue;
    this.#isDrainDue = false;
    return isDue;
  }

  /** Notes whether messages remain after the last page for the frame's client. */
  noteMore(isMoreWaiting: boolean): void {
    if (this.isOpen) this.#isMoreWaiting = isMoreWaiting;
  }

  /** The frame's reply has to say that more waits. */
  get isMoreWaiting(): boolean {
    return this.#isMoreWaiting;
  }
}
