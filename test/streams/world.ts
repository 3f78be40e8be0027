/*
 * One topic of a stream, its publishers, one reader, and the messages between them. Handlers take single steps, each a
 * read or a write, in any order; they die, posts fail, connections end, and history expires.
 */

export interface Configuration {
  /** 'exact': the program reads with `resume`, whose `Sequence` is the real one. 'bare': it keeps the last position itself. */
  readonly reader: 'exact' | 'bare';
  readonly publishers: number;
  /** The publishers' messages, in order. */
  readonly messages: number;
  /** The reader is in a shard: messages reach it through a job and a worker. */
  readonly isWide: boolean;
  /** How many handlers may die, publishers' and workers'. */
  readonly crashes: number;
  /** How many connections end. */
  readonly cuts: number;
  /** How many posts fail. */
  readonly failures: number;
  /** How many messages expire from the history. */
  readonly truncations: number;
  /** How often an exact reader may ask although nothing is missing, when its timer fires. */
  readonly asks: number;
}

/** A removed protection. */
export type Mutation =
  | 'matches-before-place'
  | 'place-without-condition'
  | 'reads-before-subscription'
  | 'stable-while-its-handler-lives'
  | 'position-without-floor'
  | 'true-over-a-hole'
  | 'failed-post-forgotten'
  | 'no-order'
  | 'pushes-before-suback'
  | 'posts-without-end';

export interface Publisher {
  /** 'subscribers-known' is behind 'placed': the message has its place before its subscribers are looked up. */
  readonly step: 'idle' | 'began' | 'end-known' | 'placed' | 'subscribers-known' | 'left';
  readonly message: number;
  /** Number of the last message, as it has read it. */
  readonly end: number;
  /** The reader's connection, as it has read it. 0: there is no subscription. */
  readonly found: number;
  /** The place of its message. */
  readonly number: number;
  /** Handlers that had ended when it began. */
  readonly over: Ids;
}

/** Messages, or numbers of messages, as the bits of a number. */
export type Ids = number;

export interface Entry {
  readonly message: number;
  /** Every message up to this number had become stable when it was appended. */
  readonly stable: number;
  /** Handlers that had ended when its own began. */
  readonly over: Ids;
}

export interface Suback {
  readonly isRecovered: boolean;
  /** Number of the newest message. */
  readonly newest: number;
  /** Numbers of the messages that come with it. */
  readonly past: readonly number[];
}

export interface Reader {
  /** Its connection. 0: it has none. */
  readonly connection: number;
  readonly connections: number;
  /** A SUBSCRIBE is handled. 'none': it is answered, or was not sent. */
  readonly step: 'none' | 'came' | 'subscribed' | 'read';
  readonly suback: Suback | undefined;
  /** A SUBACK has come on this connection. */
  readonly isLive: boolean;
  /** All events for `Sequence`, in order. */
  readonly heard: readonly Heard[];
  /** The position of a bare program. */
  readonly position: { readonly number: number; readonly stable: number };
  /** Numbers that the program has received, in order. */
  readonly seen: readonly number[];
  /** A SUBACK has reported that messages up to this number may be missing. */
  readonly excused: number;
}

export type Heard =
  | { readonly kind: 'begin'; readonly after: number; readonly newest: number }
  | { readonly kind: 'arrival'; readonly number: number; readonly stable: number; readonly isPast: boolean }
  /** The connection has ended, or it is asked for once more. */
  | { readonly kind: 'drop' };

export interface World {
  readonly publishers: readonly Publisher[];
  readonly log: readonly Entry[];
  /** Handlers that have ended. */
  readonly over: Ids;
  readonly acknowledged: Ids;
  /** The connection in the stored subscription. 0: there is none. */
  readonly subscribed: number;
  readonly reader: Reader;
  /** Numbers that are on their way to the reader's connection. */
  readonly posted: Ids;
  /** Numbers that workers have to post. */
  readonly jobs: readonly number[];
  /** Messages up to this number have expired from the history. */
  readonly forgotten: number;
  readonly crashes: number;
  readonly cuts: number;
  readonly failures: number;
  readonly truncations: number;
  readonly asks: number;
}

export const bit = (id: number): Ids => 1 << id;
export const has = (ids: Ids, id: number): boolean => (ids & bit(id)) !== 0;

export function startOf({ publishers, crashes, cuts, failures, truncations, asks }: Configuration): World {
  return {
    publishers: Array.from({ length: publishers }, () => ({
      step: 'idle',
      message: 0,
      end: 0,
      found: 0,
      number: 0,
      over: 0,
    })),
    log: [],
    over: 0,
    acknowledged: 0,
    subscribed: 0,
    reader: {
      connection: 0,
      connections: 0,
      step: 'none',
      suback: undefined,
      isLive: false,
      heard: [],
      position: { number: 0, stable: 0 },
      seen: [],
      excused: 0,
    },
    posted: 0,
    jobs: [],
    forgotten: 0,
    crashes,
    cuts,
    failures,
    truncations,
    asks,
  };
}
