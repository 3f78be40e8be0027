import type { ConnectionId } from '@apus/broker';
import type { Frame, Handlers, Poster, PostOutcome } from '@apus/cloud';

/** A page of a client's queue that its handler has taken, and that is not on the client's socket yet. */
interface PageUnderWay {
  /** Pages are numbered in the order in which handlers begin them, over all clients. */
  readonly number: number;
  readonly answered: Promise<void>;
}

/**
 * Keeps messages behind the page of a client's queue that was taken before them and leaves with a reply [MQTT-4.6.0-6]:
 * what publishers post to the client, and the next page, which another frame of the client may take meanwhile. In a
 * deployment the session's record does this: a publisher that finds a page under way appends, and does not post. The
 * stores of a process know of no page, so here the post waits for the reply.
 *
 * A handler whose own page is under way waits only for pages with lower numbers, so no two handlers wait for each other.
 */
export class PageOrder {
  readonly #pages = new Map<ConnectionId, PageUnderWay>();
  readonly #posts = new Map<ConnectionId, Set<Promise<unknown>>>();
  /** Ends the waits for a request's page, by the request. It is here until the request has been answered. */
  readonly #requests = new Map<string, () => void>();
  #lastNumber = 0;

  begin(requestId: string): void {
    this.#requests.set(requestId, () => {});
  }

  /**
   * The page's number, when the page before it is on the client's socket and the posts that are on their way have
   * arrived. From then on posts to the connection wait, until the request has been answered. A handler that has timed out
   * goes on after that: its page never leaves, has no number, and nothing waits for it.
   */
  async hold(connectionId: ConnectionId, requestId: string): Promise<number | undefined> {
    for (let page = this.#pages.get(connectionId); page; page = this.#pages.get(connectionId))
      await page.answered;
    if (!this.#requests.has(requestId)) return undefined;
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    let letGo = () => {};
    const answered = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    this.#pages.set(connectionId, { number, answered });
    this.#requests.set(requestId, () => {
      this.#pages.delete(connectionId);
      letGo();
    });
    await Promise.all(this.#posts.get(connectionId) ?? []);
    return number;
  }

  /** The reply is on the client's socket, or there is none. */
  answered(requestId: string): void {
    this.#requests.get(requestId)?.();
    this.#requests.delete(requestId);
  }

  /** @param own the number of the page that the posting handler has under way; undefined: none */
  async post<T>(connectionId: ConnectionId, own: number | undefined, post: () => Promise<T>): Promise<T> {
    for (let page = this.#pages.get(connectionId); page; page = this.#pages.get(connectionId)) {
      if (own !== undefined && page.number >= own) break;
      await page.answered;
    }
    const outcome = post();
    void outcome.finally(remember(this.#posts, connectionId, outcome));
    return await outcome;
  }
}

/** Of one execution environment, which handles one event at a time. */
export class OrderedPoster implements Poster {
  readonly #poster: Poster;
  readonly #order: PageOrder;
  #requestId = '';
  #isHolding = false;
  #page: number | undefined;

  constructor(poster: Poster, order: PageOrder) {
    this.#poster = poster;
    this.#order = order;
  }

  /** A page is about to be taken from the queue of this event's client. */
  async beforePage(connectionId: ConnectionId): Promise<void> {
    if (this.#isHolding) return;
    this.#isHolding = true;
    this.#page = await this.#order.hold(connectionId, this.#requestId);
  }

  /** A part of the page's own reply does not wait for it. */
  async post(connectionId: string, frame: Frame | string, mayRepeat: boolean): Promise<PostOutcome> {
    return await this.#order.post(connectionId, this.#page, () =>
      this.#poster.post(connectionId, frame, mayRepeat),
    );
  }

  async delete(connectionId: string): Promise<void> {
    await this.#poster.delete(connectionId);
  }

  async get(connectionId: string, untilMs?: number) {
    return await this.#poster.get(connectionId, untilMs);
  }

  over(handlers: Handlers): Handlers {
    return {
      ...handlers,
      default: async (event, context) => {
        this.#requestId = event.requestContext.requestId;
        this.#isHolding = false;
        this.#page = undefined;
        this.#order.begin(this.#requestId);
        return await handlers.default(event, context);
      },
    };
  }
}

function remember<T>(all: Map<ConnectionId, Set<T>>, connectionId: ConnectionId, one: T): () => void {
  const ones = all.get(connectionId) ?? new Set();
  all.set(connectionId, ones.add(one));
  return () => {
    ones.delete(one);
    if (ones.size === 0 && all.get(connectionId) === ones) all.delete(connectionId);
  };
}
