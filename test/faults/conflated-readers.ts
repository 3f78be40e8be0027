import type { InProcessEmulator } from '@apus/emulated-aws';
import type { IPublishPacket } from 'mqtt';
import type { Books } from './cast.ts';
import { ConflationLedger } from './conflation-ledger.ts';
import type { Problem } from './ledger.ts';
import { SimClient } from './sim-client.ts';
import type { End, StreamTopic } from './steps.ts';
import { placesIn, said } from './stream-properties.ts';

/** The only topic of a stream that keeps the last value of each key. */
const TOPIC: StreamTopic = 'short/a';
const CONFLATE_MS = '1000';
/** A refused SUBSCRIBE is tried again after this time. */
const AGAIN_MS = 500;

interface Terms {
  readonly name: string;
  readonly filter: string;
  readonly sessionExpirySeconds: number;
  /** It gets the last messages with each SUBACK. */
  readonly rewind?: string;
}

/** The first two share a group; each of them has another subscription of its kind besides. */
const READERS: readonly Terms[] = [
  { name: 'conflated-0', filter: 'short/+', sessionExpirySeconds: 0 },
  { name: 'conflated-1', filter: 'short/+', sessionExpirySeconds: 86_400 },
  { name: 'conflated-2', filter: '$stream/short', sessionExpirySeconds: 0, rewind: '1' },
  { name: 'conflated-3', filter: '$stream/short', sessionExpirySeconds: 86_400, rewind: '1' },
];

/** A program that shows prices: it wants the newest message of each topic once a second. */
class ConflatedReader {
  readonly client: SimClient;
  readonly #ledger: ConflationLedger;
  readonly #terms: Terms;
  #isGranted = false;

  constructor(emulator: InProcessEmulator, books: Books, terms: Terms) {
    this.#terms = terms;
    this.#ledger = new ConflationLedger(terms.name, books.streams);
    const { name: clientId, sessionExpirySeconds } = terms;
    this.client = new SimClient(
      emulator,
      { clientId, sessionExpirySeconds },
      {
        connected: () => this.#subscribe(),
        told: (what) => {
          if (what === 'gap') this.#subscribe();
        },
      },
      books.trace,
    );
    this.client.mqtt.on('message', (topic, payload, packet: IPublishPacket) => {
      const text = payload.toString();
      const [[, place] = []] = placesIn(said(packet)?.['stream-position'], topic);
      if (place === undefined)
        return books.wrong(`place: ${topic} ${text} came to ${clientId} without one`, `${topic}=${text}`);
      const kind = said(packet)?.['stream-kind'] as string | undefined;
      this.#ledger.received({ topic, payload: text, place, kind });
    });
  }

  get hasBegun(): boolean {
    return this.#isGranted;
  }

  /** Undefined: it has received what it must. */
  problem(newest: string | undefined): Problem | undefined {
    return this.#ledger.problem(TOPIC, newest);
  }

  /** Messages from before the SUBACK may be missing, or come with it. */
  #subscribe(): void {
    this.#isGranted = false;
    const { filter, rewind } = this.#terms;
    const { connections, mqtt } = this.client;
    const userProperties = { 'conflate-ms': CONFLATE_MS, ...(rewind !== undefined && { rewind }) };
    this.#ledger.asks();
    mqtt.subscribe(filter, { qos: 0, properties: { userProperties } }, (error) => {
      if (connections !== this.client.connections) return;
      this.#isGranted = error === null;
      if (this.#isGranted) this.#ledger.begins(Date.now());
      else setTimeout(() => mqtt.connected && this.#subscribe(), AGAIN_MS);
    });
  }
}

/** Subscribers with `conflate-ms`, and what may be done to them. */
export class ConflatedReaders {
  readonly #books: Books;
  readonly #readers: readonly ConflatedReader[];
  readonly #problems: Problem[] = [];

  constructor(emulator: InProcessEmulator, books: Books, isUsed: boolean) {
    this.#books = books;
    this.#readers = (isUsed ? READERS : []).map((terms) => new ConflatedReader(emulator, books, terms));
  }

  get clients(): readonly SimClient[] {
    return this.#readers.map(({ client }) => client);
  }

  get hasBegun(): boolean {
    return this.#readers.every(({ hasBegun }) => hasBegun);
  }

  /** A subscriber is reconnecting, or does not have the newest message. */
  get isWaiting(): boolean {
    return (
      this.#readers.some(({ hasBegun, client }) => !hasBegun || !client.mqtt.connected) ||
      this.#missing.length > 0
    );
  }

  get problems(): readonly Problem[] {
    return [...this.#problems, ...this.#missing];
  }

  /** The client returns at once. */
  end(index: number, how: Exclude<End, 'disconnect'>): void {
    const client = this.#readers[index]?.client;
    if (client?.mqtt.connected === true) client.end(how);
  }

  /** After the faults one last message is published: each subscriber has to get it. */
  farewell(publish: (topic: StreamTopic) => void): void {
    this.#problems.push(...this.#missing);
    if (this.#readers.length > 0) publish(TOPIC);
  }

  get #missing(): readonly Problem[] {
    const newest = this.#books.streams.newestOf(TOPIC);
    return this.#readers.flatMap((reader) => reader.problem(newest) ?? []);
  }
}
