import type { Frame, Handlers, Poster, PostOutcome } from '@apus/aws';
import type { ConnectionId } from '@apus/broker';

/** A page of a client's queue that a handler has begun to take, and that is not on the client's socket yet. */
interface PageUnderWay {
  readonly answered: Promise<void>;
  /** Messages wait in the queue behind the page, and perhaps no acknowledgement follows that would fetch them. */
  isFollowed: boolean;
}

/**
 * Keeps the messages of a client in order [MQTT-4.6.0-6]: the page of its queue that leaves with a reply, the messages
 * that publishers post to it, and the next page, which another frame of the client may take meanwhile. In a deployment
 * the session's record does this; the stores of a process do not know pages.
 *
 * - While a page is under way, publishers leave their messages in the queue, and the client is told to fetch them.
 * - A page leaves when the packets that other events have gathered for the client before it have been posted.
 * Publishers do not wait, and a handler has posted what it has gathered before it waits, so no two wait for each other.
 */
export class PageOrder {
  readonly #pages = new Map<ConnectionId, PageUnderWay>();
  readonly #posts = new Map<ConnectionId, Set<Promise<unknown>>>();
  /** Ends the pages of a request. An entry exists until the request has been answered. */
  readonly #requests = new Map<string, () => void>();
  readonly #nudge: (connectionId: ConnectionId) => void;

  /** @param nudge tells a client to fetch the messages in its queue */
  constructor(nudge: (connectionId: ConnectionId) => void) {
    this.#nudge = nudge;
  }

  /** Whether a message has to wait in the queue, behind the page. */
  isUnderWay(connectionId: ConnectionId): boolean {
    const page = this.#pages.get(connectionId);
    if (page !== undefined) page.isFollowed = true;
    return page !== undefined;
  }

  begin(requestId: string): void {
    this.#requests.set(requestId, () => {});
  }

  /**
   * Resolves when the page before this one is on the client's socket. From then on messages wait in the queue, until
   * the request has been answered. A handler that has timed out may go on after that: its page never leaves, and
   * nothing waits for it.
   */
  async hold(connectionId: ConnectionId, requestId: string): Promise<void> {
    for (let page = this.#pages.get(connectionId); page; page = this.#pages.get(connectionId))
      await page.answered;
    if (!this.#requests.has(requestId)) return;
    let letGo = () => {};
    const answered = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const page: PageUnderWay = { answered, isFollowed: false };
    this.#pages.set(connectionId, page);
    this.#requests.set(requestId, () => {
      this.#requests.set(requestId, () => {});
      this.#pages.delete(connectionId);
      letGo();
      if (page.isFollowed) this.#nudge(connectionId);
    });
  }

  /** The request has found no messages in the queue. */
  cancel(requestId: string): void {
    this.#requests.get(requestId)?.();
  }

  /** The reply is on the client's socket, or there is none. */
  answered(requestId: string): void {
    this.cancel(requestId);
    this.#requests.delete(requestId);
  }

  /** Packets for the client are on their way, until `arrival` resolves. */
  expect(connectionId: ConnectionId, arrival: Promise<unknown>): void {
    const posts = this.#posts.get(connectionId) ?? new Set();
    this.#posts.set(connectionId, posts.add(arrival));
    const forget = () => {
      posts.delete(arrival);
      if (posts.size === 0 && this.#posts.get(connectionId) === posts) this.#posts.delete(connectionId);
    };
    arrival.then(forget, forget);
  }

  /** Resolves when all packets that are on their way to the client now have arrived or failed. */
  async arrived(connectionId: ConnectionId): Promise<void> {
    await Promise.allSettled(this.#posts.get(connectionId) ?? []);
  }
}

/** A poster that reports its posts to the order. */
export class OrderedPoster implements Poster {
  readonly #poster: Poster;
  protected readonly order: PageOrder;

  constructor(poster: Poster, order: PageOrder) {
    this.#poster = poster;
    this.order = order;
  }

  isPageUnderWay(connectionId: ConnectionId): boolean {
    return this.order.isUnderWay(connectionId);
  }

  async post(connectionId: string, frame: Frame | string, mayRepeat: boolean): Promise<PostOutcome> {
    const outcome = this.#poster.post(connectionId, frame, mayRepeat);
    this.order.expect(connectionId, outcome);
    return await outcome;
  }

  async delete(connectionId: string): Promise<boolean> {
    return await this.#poster.delete(connectionId);
  }

  async get(connectionId: string, untilMs?: number) {
    return await this.#poster.get(connectionId, untilMs);
  }
}

/** The poster of one execution environment, which handles one event at a time. */
export class HandlersPoster extends OrderedPoster {
  #requestId = '';
  /** The client whose page this event takes. */
  #holding: ConnectionId | undefined;
  /** Ends the announcements of this event's posts, by connection. */
  readonly #announced = new Map<ConnectionId, () => void>();

  override isPageUnderWay(connectionId: ConnectionId): boolean {
    return connectionId !== this.#holding && super.isPageUnderWay(connectionId);
  }

  willPost(connectionId: ConnectionId): void {
    if (this.#announced.has(connectionId)) return;
    this.order.expect(
      connectionId,
      new Promise<void>((resolve) => this.#announced.set(connectionId, resolve)),
    );
  }

  /**
   * Called before this event takes a page from its client's queue.
   *
   * @param commit posts the packets that the event has gathered
   * @returns a function to call if the queue was empty; undefined if an earlier page leaves with the same reply
   */
  async beforePage(
    connectionId: ConnectionId,
    commit: () => Promise<void>,
  ): Promise<(() => void) | undefined> {
    if (this.#holding !== undefined) return undefined;
    await commit();
    this.#allPosted();
    this.#holding = connectionId;
    await this.order.hold(connectionId, this.#requestId);
    return () => {
      this.#holding = undefined;
      this.order.cancel(this.#requestId);
    };
  }

  /** A part of the page's own reply leaves when the event has been committed, so its posts have been sent. */
  override async post(connectionId: string, frame: Frame | string, mayRepeat: boolean): Promise<PostOutcome> {
    if (connectionId === this.#holding) await this.#beforeReply(connectionId);
    return await super.post(connectionId, frame, mayRepeat);
  }

  over(handlers: Handlers): Handlers {
    return {
      ...handlers,
      connect: (event) => this.#inEvent(event.requestContext.requestId, () => handlers.connect(event)),
      disconnect: (event) => this.#inEvent(event.requestContext.requestId, () => handlers.disconnect(event)),
      default: async (event, context) => {
        const { requestId } = event.requestContext;
        this.order.begin(requestId);
        return await this.#inEvent(requestId, () => handlers.default(event, context));
      },
    };
  }

  async #inEvent<T>(requestId: string, handle: () => Promise<T>): Promise<T> {
    this.#requestId = requestId;
    this.#holding = undefined;
    try {
      const result = await handle();
      if (this.#holding !== undefined) await this.#beforeReply(this.#holding);
      return result;
    } finally {
      this.#allPosted();
    }
  }

  async #beforeReply(connectionId: ConnectionId): Promise<void> {
    this.#allPosted();
    await this.order.arrived(connectionId);
  }

  #allPosted(): void {
    for (const posted of this.#announced.values()) posted();
    this.#announced.clear();
  }
}
