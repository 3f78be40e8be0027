import type { Awaitable } from '../flow.ts';
import type { Message, MessageId } from '../message.ts';
import type { StreamDeclaration, StreamDeclarations } from '../streams/declaration.ts';
import type { StreamFeed } from '../streams/feed.ts';
import type { PageLimit } from './page.ts';

/** A message of a stream's topic, with its place there. */
export interface StreamEntry {
  readonly epoch: string;
  /** From 1, and one more for each message of the topic. */
  readonly number: number;
  /** When it was appended, in ms since the epoch of Unix; never less than that of the entry before. */
  readonly tsMs: number;
  readonly key: string | undefined;
  /**
   * Up to this number every message had left for its subscribers before this one was appended. Set where several
   * handlers publish to the topic side by side, whose messages arrive in any order. @default number - 1
   */
  readonly stable?: number | undefined;
  readonly message: Message;
}

/** The answer of `append`. */
export interface StreamAppended {
  readonly entry: StreamEntry;
  /**
   * Resolves when the entry is durable: until then its publisher is not answered. Subscribers may have it before. A crash
   * that loses it changes the epoch. @default it is durable
   */
  readonly written?: Promise<void> | undefined;
}

/** The end of a topic's log. */
export interface StreamTail {
  readonly epoch: string;
  /** Number of the newest message, 0: there has been none. */
  readonly last: number;
  /** Number of the message behind which the epoch began. Absent where no other process appends. */
  readonly start?: number;
  /** The store's own, for later calls about this tail. */
  readonly note?: unknown;
}

/** A topic of a stream, and the end of its log. */
export interface StreamTopicTail extends StreamTail {
  readonly topic: string;
}

/** Where messages from some time on begin. */
export interface StreamSince {
  /** The first of them that is handed out; one above the newest where there is none. */
  readonly number: number;
  /** Everything that was published to the topic from then on is kept. */
  readonly isComplete: boolean;
}

export interface AppendOptions {
  readonly key: string | undefined;
  readonly nowMs: number;
  /** Appends in any case: its publisher could not be told. */
  readonly isForced: boolean;
}

/** Figures of one stream. */
export interface StreamFigures {
  readonly topics: number;
  readonly messages: number;
  readonly bytes: number;
}

/** History of topics: a log for each, bounded by its stream's declaration. */
export interface StreamStore {
  /**
   * Puts the message at the end of its topic's log. 'full', and nothing changed, where there is no memory for it, or the
   * stream has as many topics as it may; 'contended' where so many publish to the topic that this one found no place in
   * the time it has. Calls of one process for one topic are numbered in their order, where it waits for each.
   */
  append(
    tenant: string,
    stream: StreamDeclaration,
    message: Message,
    options: AppendOptions,
  ): Awaitable<StreamAppended | 'full' | 'contended'>;

  /**
   * The entry of a message that may have been appended before: a repetition at QoS 2, or of a will. Absent where a
   * repetition is appended once more, as nothing tells how far its first handler came.
   */
  findAppended?(tenant: string, topic: string, id: MessageId): Awaitable<StreamAppended | undefined>;

  /**
   * Opens the topic where it is not there yet, so that a reader can go on from its beginning. 'full' and 'contended' as
   * `append` has them.
   */
  tail(
    tenant: string,
    stream: StreamDeclaration,
    topic: string,
    nowMs: number,
  ): Awaitable<StreamTail | 'full' | 'contended'>;

  /** Number of the first message from number `from` on that is handed out; `last + 1` where there is none. */
  firstKept(
    tenant: string,
    stream: StreamDeclaration,
    tail: StreamTopicTail,
    from: number,
    nowMs: number,
  ): Awaitable<number>;

  /** Where messages from `tsMs` on begin. */
  since(
    tenant: string,
    stream: StreamDeclaration,
    tail: StreamTopicTail,
    tsMs: number,
    nowMs: number,
  ): Awaitable<StreamSince>;

  /**
   * Messages behind number `after`, lowest first, a page of at most `limit`; empty at the end. 'lost' where the next one
   * is not there any more, or the epoch has changed. The store holds more than it hands out: a reader that began in time
   * is not overtaken at once.
   */
  read(
    tenant: string,
    topic: string,
    epoch: string,
    after: number,
    limit: PageLimit,
  ): Awaitable<readonly StreamEntry[] | 'lost'>;

  /** The newest message of each key, of those that are handed out, in the order of their numbers. */
  lastValues(
    tenant: string,
    stream: StreamDeclaration,
    tail: StreamTopicTail,
    nowMs: number,
  ): Awaitable<readonly StreamEntry[]>;

  /** Topics of the stream that the filter matches; 'too-many' above `countMax`. */
  topics(
    tenant: string,
    stream: StreamDeclaration,
    topicFilter: string,
    countMax: number,
    nowMs: number,
  ): Awaitable<readonly StreamTopicTail[] | 'too-many'>;

  /** Ends the continuity of a topic: no position from before is honoured. Its messages stay. */
  newEpoch(tenant: string, topic: string): Awaitable<string | undefined>;

  figures(tenant: string, stream: StreamDeclaration): Awaitable<StreamFigures>;
}

/** The streams of a broker. */
export interface Streams {
  readonly declared: StreamDeclarations;
  readonly store: StreamStore;
  /**
   * Other processes append and subscribe at the same time: a message has its place before its subscribers are looked
   * up. @default false: this process does both in one turn
   */
  readonly isShared?: boolean;
  /**
   * Other processes hand this one the messages that they have appended: it gives them to its readers in their order.
   * @default readers are given each message as it comes
   */
  readonly feed?: StreamFeed;
}
