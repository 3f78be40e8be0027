import type { ConnectionId } from '@apus/broker';
import type { Frame, Handlers, Poster, PostOutcome } from '@apus/cloud';

/**
 * Keeps what is posted to a client behind the page of its queue that leaves with a reply [MQTT-4.6.0-6]. In a deployment
 * the session's record does: a publisher that finds a page under way appends, and does not post. The stores of a process
 * know of no page, so here the post waits for the reply.
 *
 * A handler that holds a page back itself posts at once: otherwise two of them could wait for each other. So a client
 * that fetches and publishes in one frame may still overtake a page of somebody else's.
 */
export class PageOrder {
  readonly #pages = new Map<ConnectionId, Set<Promise<void>>>();
  readonly #posts = new Map<ConnectionId, Set<Promise<unknown>>>();
  /** Ends the waits for a request's page, by the request. It is here until the request has been answered. */
  readonly #requests = new Map<string, () => void>();

  begin(requestId: string): void {
    this.#requests.set(requestId, () => {});
  }

  /**
   * From now on posts to the connection wait, until the request has been answered. A handler that has timed out goes on
   * after that: its page never leaves, and nothing waits for it.
   */
  hold(connectionId: ConnectionId, requestId: string): void {
    if (!this.#requests.has(requestId)) return;
    let letGo = () => {};
    const page = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const forget = remember(this.#pages, connectionId, page);
    this.#requests.set(requestId, () => {
      forget();
      letGo();
    });
  }

  /** The reply is on the client's socket, or there is none. */
  answered(requestId: string): void {
    this.#requests.get(requestId)?.();
    this.#requests.delete(requestId);
  }

  /** Resolves when the posts to the connection that are on their way have arrived. */
  async postsLeft(connectionId: ConnectionId): Promise<void> {
    await Promise.all(this.#posts.get(connectionId) ?? []);
  }

  async post<T>(connectionId: ConnectionId, post: () => Promise<T>): Promise<T> {
    for (let pages = this.#pages.get(connectionId); pages; pages = this.#pages.get(connectionId))
      await Promise.all(pages);
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

  constructor(poster: Poster, order: PageOrder) {
    this.#poster = poster;
    this.#order = order;
  }

  /** A page is about to be taken from the queue of this event's client. */
  async beforePage(connectionId: ConnectionId): Promise<void> {
    if (!this.#isHolding) this.#order.hold(connectionId, this.#requestId);
    this.#isHolding = true;
    await this.#order.postsLeft(connectionId);
  }

  /** A part of the page's reply does not wait for it. */
  async post(connectionId: string, frame: Frame | string, mayRepeat: boolean): Promise<PostOutcome> {
    const post = () => this.#poster.post(connectionId, frame, mayRepeat);
    return this.#isHolding ? await post() : await this.#order.post(connectionId, post);
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
