import type { Awaitable } from '../flow.ts';
import type { Message, MessageId } from '../message.ts';
import type { StreamDeclaration, StreamDeclarations } from '../streams/declaration.ts';
import type { PageLimit } from './page.ts';

/** A message of a stream's topic, with its place there. */
export interface StreamEntry {
  readonly epoch: string;
  /** From 1, and one more for each message of the topic. */
  readonly number: number;
  /** When it was appended, in ms since the epoch of Unix; never less than that of the entry before. */
  readonly tsMs: number;
  readonly key: string | undefined;
  readonly message: Message;
}

/** What `append` answers. */
export interface StreamAppended {
  readonly entry: StreamEntry;
  /**
   * Settles when the entry is durable: until then its publisher is not answered. Subscribers may have it before. A crash
   * that loses it changes the epoch. @default it is durable
   */
  readonly written?: Promise<void> | undefined;
}

/** What one topic holds. */
export interface StreamTail {
  readonly epoch: string;
  /** Number of the newest message, 0: there has been none. */
  readonly last: number;
  /** Number of the oldest message that is handed out; `last + 1` where there is none. */
  readonly firstKept: number;
  /** Everything that was published to the topic from then on is kept. */
  readonly completeSinceMs: number;
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

/** History of topics: a log for each, bounded by what its stream says. */
export interface StreamStore {
  /**
   * Puts the message at the end of its topic's log. 'full', and nothing changed, where there is no memory for it, or the
   * stream has as many topics as it may. Calls for one topic are numbered in their order.
   */
  append(
    tenant: string,
    stream: StreamDeclaration,
    message: Message,
    options: AppendOptions,
  ): Awaitable<StreamAppended | 'full'>;

  /** The entry of a message that may have been appended before: a repetition at QoS 2, or of a will. */
  findAppended(tenant: string, topic: string, id: MessageId): Awaitable<StreamAppended | undefined>;

  /** Opens the topic where it is not there yet, so that a reader can go on from its beginning. */
  tail(
    tenant: string,
    stream: StreamDeclaration,
    topic: string,
    nowMs: number,
  ): Awaitable<StreamTail | 'full'>;

  /** Number of the first message from `tsMs` on that is handed out; one above the newest where there is none. */
  numberSince(tenant: string, topic: string, tsMs: number, nowMs: number): Awaitable<number>;

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
  lastValues(tenant: string, topic: string, nowMs: number): Awaitable<readonly StreamEntry[]>;

  /** Topics of the stream that the filter matches; 'too-many' above `countMax`. */
  topics(
    tenant: string,
    stream: StreamDeclaration,
    topicFilter: string,
    countMax: number,
  ): Awaitable<readonly string[] | 'too-many'>;

  /** Ends the continuity of a topic: no position from before is honoured. Its messages stay. */
  newEpoch(tenant: string, topic: string): Awaitable<string | undefined>;

  figures(tenant: string, stream: StreamDeclaration): Awaitable<StreamFigures>;
}

/** The streams of a broker. */
export interface Streams {
  readonly declared: StreamDeclarations;
  readonly store: StreamStore;
}
