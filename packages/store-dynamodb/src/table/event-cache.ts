import type { ConnectionId, MatchedFilter } from '@apus/broker';
import type { Item } from './values.ts';

/** The kind of an event, as far as its stores have to know. */
export interface EventKind {
  /** The connection whose frame is handled. Absent: no frame is. */
  readonly connectionId?: ConnectionId;
  /**
   * After its packets the caller asks `isDrainDue`, and drains: so a frame of many acknowledgements looks once at what
   * waits. @default each of them looks
   */
  readonly looksAtEnd?: boolean;
  /** The client sends no frame that may dequeue until the reply has come. @default true */
  readonly isReplyWanted?: boolean;
  /** The frame holds one packet. @default false */
  readonly isOnePacket?: boolean;
}

/**
 * The cache of one event: items read ahead, and matches. Each topic is matched once, and a subscription that the event
 * itself writes empties the cache. `undefined` for the kind: no event, each call stands for itself.
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

  /** A dequeued page leaves when the event has been handled, beside other frames and in no order with them. */
  get isOpen(): boolean {
    return this.#kind !== undefined;
  }

  /** A dequeued page leaves in pushes: other frames of the connection may be handled at the same time. */
  get isPushing(): boolean {
    return this.#kind?.isReplyWanted === false;
  }

  /** It is a frame of one packet: nothing else will be done with what that packet reads. */
  get isOnePacket(): boolean {
    return this.#kind?.isOnePacket === true;
  }

  /** It is a frame of this connection. */
  isOf(connectionId: ConnectionId): boolean {
    return this.#kind?.connectionId === connectionId;
  }

  keepLink(connectionId: ConnectionId, item: Item | undefined): void {
    this.#link = { connectionId, item };
  }

  hasLink(connectionId: ConnectionId): boolean {
    return this.#link?.connectionId === connectionId;
  }

  /** Only once: a second load must read the present item. */
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

  /** The topic is read again when it is matched again. */
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

  /** Notes whether messages are left after the last page for the frame's client. */
  noteMore(isMoreWaiting: boolean): void {
    if (this.isOpen) this.#isMoreWaiting = isMoreWaiting;
  }

  /** The frame's reply says that more waits. */
  get isMoreWaiting(): boolean {
    return this.#isMoreWaiting;
  }
}
