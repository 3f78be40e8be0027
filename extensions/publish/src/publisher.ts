import { type Answered, errorOf, type Failure, readAnswer } from './answer.ts';
import { type Authorization, type Authorize, authorizeWith } from './authorize.ts';
import { batchesOf } from './batches.ts';
import { type PublishMessage, type PublishOptions, type Receipt, toJson } from './message.ts';

/** Tries of a message, including the first. */
const ATTEMPTS_MAX = 4;
/** A little more than the time that the endpoint allows itself. */
const TIMEOUT_MS = 30_000;
/** Pauses between tries are random, up to this value, which doubles each time. */
const FIRST_PAUSE_MS = 250;
/** `publish` waits no longer than this for a next try, even if Retry-After says more. */
const PAUSE_MS_MAX = 10_000;

const CLOCK_HEADER = 'apus-clock';

/** The URL at which a publisher publishes, and its credentials: a key or a signature, not both. */
export interface PublisherOptions extends Authorization {
  /**
   * The URL that `npm run deploy` prints for backends, with or without `/api/v5/publish`; at the node door
   * `http://127.0.0.1:8083`.
   */
  readonly url: string;
  /** The key of a deployment with `httpPublish: 'keys'`; or of `apus serve --api-key-file`. */
  readonly key?: string | undefined;
  /**
   * The tenant of the messages, for a key that is not bound to one.
   * @default the deployment's only one
   */
  readonly tenant?: string | undefined;
  /**
   * At least 1.
   * @default 4
   */
  readonly attemptsMax?: number;
  /**
   * Milliseconds for one try.
   * @default 30,000
   */
  readonly timeoutMs?: number;
  /** @default the platform's fetch */
  readonly fetch?: typeof fetch;
  /** For tests. @default timers */
  readonly sleep?: (ms: number) => Promise<void>;
  /**
   * Returns a number from 0 to 1.
   * @default Math.random
   */
  readonly random?: () => number;
}

/** Publishes messages over HTTPS. */
export interface Publisher {
  /**
   * Publishes a message. Resolves when the broker has sent it to every connected subscriber and queued it for the
   * others.
   *
   * @throws {PublishRefused} the broker will not take it: do not send it again
   * @throws {PublishUnavailable} the broker took it at none of the tries
   */
  publish(topic: string, payload: string | Uint8Array, options?: PublishOptions): Promise<Receipt>;
  /**
   * Publishes messages in their order, in as few requests as possible. If one cannot be published, the later ones are
   * not sent, and the error's `published` lists the messages that left.
   *
   * @throws {PublishRefused}
   * @throws {PublishUnavailable}
   */
  publishAll(messages: readonly PublishMessage[]): Promise<readonly Receipt[]>;
}

/**
 * A publisher for one deployment. Keep it: it learns the broker's clock with each answer, so that a retained message is
 * always newer than its earlier ones.
 *
 *     const apus = createPublisher({ url: process.env.APUS_URL, key: process.env.APUS_KEY });
 *     await apus.publish('orders/7', JSON.stringify(order), { qos: 1 });
 */
export function createPublisher(options: PublisherOptions): Publisher {
  const endpoint = new Endpoint(options);
  return {
    publish: async (topic, payload, more = {}) => {
      const [receipt] = await endpoint.publishAll([{ ...more, topic, payload }]);
      if (receipt === undefined) throw new TypeError('a message was published without an answer');
      return receipt;
    },
    publishAll: (messages) => endpoint.publishAll(messages),
  };
}

interface Waiting {
  readonly json: string;
  /** The message may arrive twice: its QoS is 1 or 2. */
  readonly mayRepeat: boolean;
}

class Endpoint {
  readonly #options: PublisherOptions;
  readonly #url: string;
  readonly #authorize: Authorize;
  #clock: string | undefined;

  constructor(options: PublisherOptions) {
    this.#options = options;
    this.#url = baseOf(options.url);
    this.#authorize = authorizeWith(options);
  }

  async publishAll(messages: readonly PublishMessage[]): Promise<readonly Receipt[]> {
    const waiting = messages.map((message) => ({ json: toJson(message), mayRepeat: (message.qos ?? 0) > 0 }));
    const published: Receipt[] = [];
    for (const batch of batchesOf(waiting, ({ json }) => Buffer.byteLength(json))) {
      published.push(...(await this.#publishBatch(batch, published)));
    }
    return published;
  }

  /** Messages that have left are not sent again: a retry sends only the rest. */
  async #publishBatch(batch: readonly Waiting[], before: readonly Receipt[]): Promise<readonly Receipt[]> {
    const { attemptsMax = ATTEMPTS_MAX } = this.#options;
    const published: Receipt[] = [];
    for (let attempt = 1; ; attempt += 1) {
      const { receipts, failure } = await this.#try(batch.slice(published.length));
      published.push(...receipts);
      if (failure === undefined) return published;
      if (!failure.isPassing || failure.isUnknown || attempt >= attemptsMax)
        throw errorOf(failure, [...before, ...published]);
      await this.#pause(attempt, failure.retryAfterMs);
    }
  }

  async #try(batch: readonly Waiting[]): Promise<Tried> {
    const { fetch: send = fetch, timeoutMs = TIMEOUT_MS } = this.#options;
    const isBulk = batch.length > 1;
    const url = isBulk ? `${this.#url}/bulk` : this.#url;
    const texts = batch.map(({ json }) => json);
    const body = isBulk ? `[${texts.join()}]` : texts.join();
    const headers = await this.#authorize(url, this.#headers(), body);
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const response = await send(url, { method: 'POST', headers, body, signal });
      this.#clock = response.headers.get(CLOCK_HEADER) ?? this.#clock;
      return await readAnswer(response, batch.length);
    } catch (error) {
      return { receipts: [], failure: unanswered(error, this.#url, batch) };
    }
  }

  #headers(): Record<string, string> {
    const { tenant } = this.#options;
    return {
      'content-type': 'application/json',
      ...(tenant !== undefined && { 'apus-tenant': tenant }),
      ...(this.#clock !== undefined && { [CLOCK_HEADER]: this.#clock }),
    };
  }

  async #pause(attempt: number, leastMs: number): Promise<void> {
    const { sleep = defaultSleep, random = Math.random } = this.#options;
    const pauseMs = leastMs + random() * FIRST_PAUSE_MS * 2 ** attempt;
    await sleep(Math.min(pauseMs, PAUSE_MS_MAX));
  }
}

type Tried = Answered & { readonly failure: (Failure & { readonly isUnknown?: boolean }) | undefined };

/** The request may have arrived: a message of QoS 0 could come twice, so it is not sent again. */
function unanswered(error: unknown, url: string, batch: readonly Waiting[]): Tried['failure'] {
  return {
    message: `${url} has not answered: ${reasonOf(error)}`,
    fields: { cause: error },
    isPassing: true,
    isUnknown: !batch.every(({ mayRepeat }) => mayRepeat) && !neverLeft(error),
    retryAfterMs: 0,
  };
}

const UNREACHED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);

function neverLeft(error: unknown): boolean {
  return UNREACHED.has(String(codeOf(error)));
}

function codeOf(error: unknown): unknown {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } };
  return cause?.code;
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error;
  return cause instanceof Error && cause.message !== '' ? cause.message : message;
}

function baseOf(url: string): string {
  if (!URL.canParse(url)) throw new TypeError(`url is the address of the endpoint, not "${url}".`);
  const { origin, pathname } = new URL(url);
  const path = pathname.replace(/\/(api\/v5\/publish\/?)?$/, '');
  return `${origin}${path}/api/v5/publish`;
}

function defaultSleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
