import type { Awaitable } from '../model/flow.ts';
import type { Message, MessageId } from '../model/message.ts';
import type { MessageOrigin } from '../model/message-origin.ts';
import type { PageLimit } from '../model/page.ts';
import type { StreamDeclaration, StreamDeclarations } from '../model/stream-declaration.ts';
import type { StreamFeed } from '../model/stream-feed.ts';

/** A message of a stream and its place in the topic's log. */
export interface StreamEntry {
  readonly epoch: string;
  /** From 1, ascending by one. */
  readonly number: number;
  /** When it was appended, in ms since the epoch; never less than the previous entry's. */
  readonly tsMs: number;
  readonly key: string | undefined;
  /**
   * All messages up to this number had left for their subscribers before this one was appended. Set if several
   * handlers publish to the topic side by side, so that their messages arrive in any order. @default number - 1
   */
  readonly stable?: number | undefined;
  readonly message: Message;
  /** For the store. */
  readonly origin?: MessageOrigin | undefined;
}

/** The outcome of `append`. */
export interface StreamAppended {
  readonly entry: StreamEntry;
  /** The message had been appended before. @default false */
  readonly isFound?: boolean | undefined;
  /**
   * Resolves when the entry is durable. Until then its publisher is not answered, but subscribers may have it. A crash
   * that loses it changes the epoch. @default it is durable
   */
  readonly written?: Promise<void> | undefined;
}

/** The end of a topic's log. */
export interface StreamTail {
  readonly epoch: string;
  /** Number of the newest message. 0: there has been none. */
  readonly last: number;
  /** Number of the message before the first one of the epoch. Absent if no other process appends. */
  readonly start?: number;
  /** For the store, in later calls about this tail. */
  readonly note?: unknown;
}

/** A topic of a stream, and the end of its log. */
export interface StreamTopicTail extends StreamTail {
  readonly topic: string;
}

/** The first message from a point in time on. */
export interface StreamSince {
  /** The first one that is handed out; one above the newest if there is none. */
  readonly number: number;
  /** All messages that were published to the topic from then on are kept. */
  readonly isComplete: boolean;
}

export interface AppendOptions {
  readonly key: string | undefined;
  readonly nowMs: number;
  /** Appends even if limits forbid it: the publisher of a will could not be told. */
  readonly isForced: boolean;
  /** The `quotaHolderKey` for which the topic is opened, if it is new. @default the broker's own */
  readonly holder?: string | undefined;
  /**
   * If the topic has the message, or a later one of the same source, the store does not append it again. Where readers
   * may not have it (DynamoDB) the store answers its entry, for them to be sent it again.
   */
  readonly origin?: MessageOrigin | undefined;
}

/** Numbers of one stream, for operators. */
export interface StreamFigures {
  readonly topics: number;
  readonly messages: number;
  readonly bytes: number;
}

/** History of topics: a log for each, bounded by the declaration of its stream. */
export interface StreamStore {
  /**
   * Appends the message to its topic's log. 'full', and nothing changed: there is no memory, or the stream has as many
   * topics as it may, in all or of this holder (`mayOpen`). 'contended': so many handlers publish to the topic that this
   * one found no place in its time, or the one that it is `behind` is not in the log. 'repeated': a later message of the same `origin` is there, or this one was and is
   * not kept any more. The calls of one process for one topic are numbered in their order, if it waits for each.
   */
  append(
    tenant: string,
    stream: StreamDeclaration,
    message: Message,
    options: AppendOptions,
  ): Awaitable<StreamAppended | 'full' | 'contended' | 'repeated'>;

  /**
   * The entry of a message that may have been appended before: a repetition at QoS 2, or a will. Absent if a
   * repetition is appended once more, since nothing tells how far its first handler came.
   */
  findAppended?(tenant: string, topic: string, id: MessageId): Awaitable<StreamAppended | undefined>;

  /**
   * Opens the topic if it does not exist, so that a reader can begin at its beginning. 'full' and 'contended' as in
   * `append`.
   */
  tail(
    tenant: string,
    stream: StreamDeclaration,
    topic: string,
    nowMs: number,
    holder?: string,
  ): Awaitable<StreamTail | 'full' | 'contended'>;

  /** Number of the first message from `from` on that is handed out; `last + 1` if there is none. */
  firstKept(
    tenant: string,
    stream: StreamDeclaration,
    tail: StreamTopicTail,
    from: number,
    nowMs: number,
  ): Awaitable<number>;

  /** The first message from `tsMs` on. */
  since(
    tenant: string,
    stream: StreamDeclaration,
    tail: StreamTopicTail,
    tsMs: number,
    nowMs: number,
  ): Awaitable<StreamSince>;

  /**
   * Messages after number `after`, ascending, at most a page of `limit`; empty at the end. 'lost': the next one is not
   * kept any more, or the epoch has changed. The store keeps more than it hands out, so that a reader that began in
   * time is not overtaken at once.
   */
  read(
    tenant: string,
    topic: string,
    epoch: string,
    after: number,
    limit: PageLimit,
  ): Awaitable<readonly StreamEntry[] | 'lost'>;

  /**
   * The newest message of each key among those that are handed out, up to the tail: those after number `after`,
   * ascending, a page of `limit`; empty at the end. A message that replaces or deletes a value between two pages is newer than
   * the tail, and so in the history after it. 'lost': the epoch has changed, which a store may not notice that serves no
   * reader of several pages.
   */
  lastValues(
    tenant: string,
    stream: StreamDeclaration,
    tail: StreamTopicTail,
    after: number,
    limit: PageLimit,
    nowMs: number,
  ): Awaitable<readonly StreamEntry[] | 'lost'>;

  /** Topics of the stream that the filter matches; 'too-many' above `countMax`. */
  topics(
    tenant: string,
    stream: StreamDeclaration,
    topicFilter: string,
    countMax: number,
    nowMs: number,
  ): Awaitable<readonly StreamTopicTail[] | 'too-many'>;

  /** Begins a new epoch of a topic: positions from before are not honoured. The messages stay. */
  newEpoch(tenant: string, topic: string): Awaitable<string | undefined>;

  figures(tenant: string, stream: StreamDeclaration): Awaitable<StreamFigures>;
}

/** The streams of a broker. */
export interface Streams {
  readonly declared: StreamDeclarations;
  readonly store: StreamStore;
  /**
   * Other processes append and subscribe at the same time: a message gets its place before its subscribers are looked
   * up. @default false: this process does both in one turn
   */
  readonly isShared?: boolean;
  /**
   * Other processes hand over the messages that they have appended, and the feed gives them to the readers of this
   * process in order. @default readers get each message as it comes
   */
  readonly feed?: StreamFeed;
}
