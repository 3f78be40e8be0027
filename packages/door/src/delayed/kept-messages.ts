import type {
  Awaitable,
  Message,
  PageLimit,
  RetainedHolder,
  RetainedLimits,
  RetainedStore,
} from '@apus/broker';
import type { QoS } from '@apus/mqtt';

/** A message that the node keeps for its own purpose, with facts about it. */
export interface KeptMessage {
  /** Levels of a topic, without wildcards. */
  readonly key: string;
  readonly message: Message;
  readonly facts: Readonly<Record<string, string>>;
}

/** Facts of the message itself: in the store it has another topic, QoS 1, and no expiry. */
interface Envelope {
  readonly topic: string;
  readonly qos: QoS;
  readonly retain: boolean;
  readonly expiresAtMs: number | undefined;
  readonly facts: Readonly<Record<string, string>>;
}

/** A retained message is never empty: this byte is written before the payload. */
const NOT_EMPTY = Buffer.from([1]);
const ENVELOPE = 'envelope';
const PAGE: PageLimit = { messages: 1_000, bytes: Number.POSITIVE_INFINITY };
const ALWAYS_MS = Number.NEGATIVE_INFINITY;

/** A store that knows how many messages it has of a tenant. */
type CountedRetained = RetainedStore & { count(tenant: string): number };

/**
 * Messages beside those of clients, in the store of retained messages: on the disk if there is one, and counted with
 * the memory of the node. They belong to a tenant whose name no client's tenant can have.
 */
export class KeptMessages {
  readonly #retained: CountedRetained;
  readonly #tenant: string;
  readonly #limits: RetainedLimits;

  constructor(retained: CountedRetained, purpose: string, limits: RetainedLimits) {
    this.#retained = retained;
    this.#tenant = `$${purpose}`;
    this.#limits = limits;
  }

  /** True when it is as durable as the store; false if the store, or the holder's share of it, has no room. */
  put({ key, message, facts }: KeptMessage, holder?: RetainedHolder): Awaitable<boolean> {
    const { topic, qos, retain, expiresAtMs, payload, properties } = message;
    const envelope: Envelope = { topic, qos, retain, expiresAtMs, facts };
    const stored: Message = {
      ...message,
      ...{ topic: key, qos: 1, retain: true, expiresAtMs: undefined },
      payload: Buffer.concat([NOT_EMPTY, payload]),
      properties: {
        ...properties,
        userProperties: [[ENVELOPE, JSON.stringify(envelope)], ...(properties.userProperties ?? [])],
      },
    };
    return this.#retained.put(this.#tenant, stored, { ...this.#limits, holder });
  }

  delete({ key, message }: Pick<KeptMessage, 'key' | 'message'>): Awaitable<void> {
    return this.#retained.delete(this.#tenant, key, message.id);
  }

  async get(key: string): Promise<KeptMessage | undefined> {
    for await (const kept of this.all(key)) return kept;
    return undefined;
  }

  /** The messages whose keys the filter matches, in the order in which they were kept. */
  async *all(filter: string): AsyncGenerator<KeptMessage> {
    let from: string | undefined;
    do {
      const page = await this.#retained.match(this.#tenant, filter, ALWAYS_MS, from, PAGE);
      for (const stored of page.messages) yield keptOf(stored);
      from = page.next;
    } while (from !== undefined);
  }

  get count(): number {
    return this.#retained.count(this.#tenant);
  }
}

function keptOf(stored: Message): KeptMessage {
  const [[, text] = [ENVELOPE, '{}'], ...userProperties] = stored.properties.userProperties ?? [];
  const { facts, ...own } = JSON.parse(text) as Envelope;
  const { userProperties: _, ...properties } = stored.properties;
  const message: Message = {
    ...stored,
    ...own,
    expiresAtMs: own.expiresAtMs,
    payload: stored.payload.subarray(NOT_EMPTY.length),
    properties: userProperties.length === 0 ? properties : { ...properties, userProperties },
  };
  return { key: stored.topic, message, facts };
}
