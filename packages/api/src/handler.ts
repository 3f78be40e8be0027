import type { Awaitable } from '@apus/broker';

/** A request in a form that another process can be given. */
export interface Asked {
  readonly tenant: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

/** The wanted part of a list. A node counts the entries before it, a deployment gives the `next` of the part before. */
export interface Slice {
  readonly from: number;
  /** 0: only the length of the list is asked for. */
  readonly limit: number;
  readonly after?: string | undefined;
}

export interface Part<T = object> {
  readonly entries: readonly T[];
  /** The length of the whole list, where the door counts it. */
  readonly count?: number;
  /** Where the next part begins, at a door that does not count. */
  readonly next?: string | undefined;
}

export interface ApiRequest extends Asked {
  /**
   * The JSON in the body, which another process is not given.
   *
   * @param what the body is, for the sentence about one that is too large. @throws {ApiProblem}
   */
  json(what: string, bytesMax: number): Awaitable<unknown>;
}

/** A value with a status of its own. */
export class Answered {
  readonly status: number;
  readonly body: object;

  constructor(status: number, body: object) {
    this.status = status;
    this.body = body;
  }
}

/** A body that is not JSON. */
export class Text {
  readonly type: string;
  readonly text: string;

  constructor(type: string, text: string) {
    this.type = type;
    this.text = text;
  }
}

/**
 * The processes of a cluster that answer. `here`: any of them, since they share what is asked about. `home`: the one that
 * has the client `:clientid`. `one`: one of them has what is asked about, and the others answer 404. `all`: each for its
 * own clients, and the answers are merged.
 */
export type Place = 'here' | 'home' | 'one' | 'all';

/** A list, of which a page is answered. */
export interface ListHandler<F> {
  readonly kind: 'list';
  readonly at: Place;
  part(facts: F, asked: Asked, slice: Slice): Awaitable<Part>;
}

/** A value; without one the answer has no body. */
export interface ValueHandler<F> {
  readonly kind: 'value';
  readonly at: Place;
  answer(facts: F, request: ApiRequest): Awaitable<object | undefined>;
}

/** An answer that has an entry for each process. */
export interface EntryHandler<F> {
  readonly kind: 'entry';
  readonly at: 'all';
  entry(facts: F, asked: Asked): Awaitable<object>;
  /** The answer of these processes together; without one it has no body. */
  merged(entries: readonly object[]): object | undefined;
  /** The body of a request as a query, with which other processes are asked. @throws {ApiProblem} */
  asQuery?(request: ApiRequest): Awaitable<URLSearchParams>;
}

/** One operation, answered with what the door knows. @throws {ApiProblem} */
export type Handler<F> = ListHandler<F> | ValueHandler<F> | EntryHandler<F>;

export function listAt<F>(at: Place, part: ListHandler<F>['part']): ListHandler<F> {
  return { kind: 'list', at, part };
}

export function valueAt<F>(at: Place, answer: ValueHandler<F>['answer']): ValueHandler<F> {
  return { kind: 'value', at, answer };
}

export function entryOfEach<F>(
  entry: EntryHandler<F>['entry'],
  merged: EntryHandler<F>['merged'] = (entries) => entries,
): EntryHandler<F> {
  return { kind: 'entry', at: 'all', entry, merged };
}

/** A part with each entry in the form of the answer. */
export function mapped<From, To>(part: Part<From>, as: (entry: From) => To): Part<To> {
  return { ...part, entries: part.entries.map(as) };
}
