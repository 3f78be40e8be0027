import { resume } from '@apus/client/resume';
import type { InProcessEmulator } from '@apus/emulated-aws';
import type { IPublishPacket, Packet } from 'mqtt';
import type { Books } from './cast.ts';
import type { Problem } from './ledger.ts';
import { SimClient } from './sim-client.ts';
import { type End, STREAM_TOPICS, type StreamTopic } from './steps.ts';
import { type Begun, ReaderLedger, type TopicBegun } from './stream-ledger.ts';
import { placesIn, said, type UserProperties } from './stream-properties.ts';

/** The settings of the topics of a history's streams. */
export const STREAMS = [
  { name: 'feed', topicFilter: 'feed/#', messagesMax: 10_000 },
  // So few that a reader which is away for a moment misses some, and gets the last value.
  { name: 'short', topicFilter: 'short/#', messagesMax: 4, keepSeconds: 600, snapshot: true },
  // Records of Kafka.
  { name: 'prices', topicFilter: 'prices/#', messagesMax: 10_000, keepSeconds: 86_400 },
] as const;

const FEED_TOPICS = STREAM_TOPICS.filter((topic) => topic.startsWith('feed/'));

export interface ReaderTerms {
  readonly name: string;
  /** The filter of its subscription. */
  readonly filter: string;
  readonly topics: readonly StreamTopic[];
  /** `resume` orders its messages. Otherwise it keeps the position itself, as described in docs/streams.md. */
  readonly isExact: boolean;
  readonly sessionExpirySeconds?: number;
  /** @default `stream-offset: earliest` */
  readonly start?: UserProperties;
  /** It does not return. */
  readonly isSingle?: boolean;
}

/** Readers that stay for the whole history. */
export const READERS: readonly ReaderTerms[] = [
  { name: 'reader-0', filter: 'feed/a', topics: ['feed/a'], isExact: true },
  {
    name: 'reader-1',
    filter: '$stream/feed',
    topics: FEED_TOPICS,
    isExact: true,
    sessionExpirySeconds: 86_400,
  },
  { name: 'reader-2', filter: 'feed/a', topics: ['feed/a'], isExact: false },
  { name: 'reader-3', filter: 'short/a', topics: ['short/a'], isExact: true },
];

/** A program that reads a stream, and the ledger of its messages. */
export class StreamReader {
  readonly client: SimClient;
  readonly #terms: ReaderTerms;
  readonly #books: Books;
  readonly #ledger: ReaderLedger;
  #gapsSaid = 0;
  #gapsTold = 0;
  #position: string | undefined;
  #isReading = false;
  #hasEnded = false;
  readonly #startProblems: Problem[] = [];
  /** By topic: whether its epoch has ended since SUBSCRIBE. */
  #hasEpochEnded = new Map<string, () => boolean>();

  constructor(emulator: InProcessEmulator, books: Books, terms: ReaderTerms) {
    this.#terms = terms;
    this.#books = books;
    const { name: clientId, isExact, isSingle = false, sessionExpirySeconds = 0 } = terms;
    this.#ledger = new ReaderLedger(books.streams, { name: clientId, isExact });
    this.client = new SimClient(
      emulator,
      { clientId, sessionExpirySeconds, isSingle, resubscribes: isExact },
      {
        connected: (connection) => {
          if (!isExact || connection === 1) this.#subscribe();
        },
        ended: () => {
          this.#hasEnded = true;
        },
      },
      books.trace,
    );
    const { mqtt } = this.client;
    mqtt.on('packetsend', ({ cmd }) => {
      if (cmd === 'subscribe') this.#ledger.asked();
    });
    // Before `resume` handles it: its report of a gap comes after the SUBACK.
    mqtt.on('packetreceive', (packet) => this.#heard(packet));
    if (isExact) resume(mqtt, { onGap: (gap) => this.#told(gap.refusedWith) });
    mqtt.on('message', (topic, payload, packet) => this.#received(topic, payload.toString(), packet));
  }

  /** A promised message has not come yet. */
  get isWaiting(): boolean {
    return !this.client.mqtt.connected || this.#missing.length > 0;
  }

  get problems(): readonly Problem[] {
    const { name } = this.#terms;
    const isUntold = this.#terms.isExact && this.#gapsTold !== this.#gapsSaid;
    const what = `gap: SUBACK said false ${this.#gapsSaid} times to ${name}, and resume() ${this.#gapsTold} times`;
    return [
      ...this.#ledger.problems,
      ...this.#missing,
      ...(isUntold ? [{ what, about: name }] : []),
      ...this.#startProblems,
    ];
  }

  get hasBegun(): boolean {
    return this.#ledger.hasBegun;
  }

  get gaps(): number {
    return this.#gapsSaid;
  }

  get #missing(): Problem[] {
    const { topics, isSingle = false } = this.#terms;
    // Nothing is promised to a reader whose connection has ended, or whose subscription was not granted.
    if (isSingle && (this.#hasEnded || !this.#ledger.hasBegun)) return [];
    return this.#ledger.missing(topics);
  }

  #subscribe(): void {
    this.#isReading = false;
    const { streams } = this.#books;
    this.#hasEpochEnded = new Map(this.#terms.topics.map((topic) => [topic, streams.epochsFrom(topic)]));
    const { filter, isExact, start = { 'stream-offset': 'earliest' } } = this.#terms;
    const userProperties =
      this.#position === undefined || isExact ? start : { 'stream-position': this.#position };
    this.client.mqtt.subscribe(filter, { qos: 0, properties: { userProperties } }, (error) => {
      this.#isReading = error === null;
    });
  }

  #heard(packet: Packet): void {
    if (packet.cmd !== 'suback' || ((packet.granted[0] as number) ?? 0x80) >= 0x80) return;
    const properties = said(packet);
    const recovered = properties?.['stream-recovered'];
    if (recovered === undefined) return;
    const [only = ''] = this.#terms.topics;
    const after = new Map(placesIn(properties?.['stream-after'], only));
    const topics = new Map<string, TopicBegun>();
    for (const [topic, place] of placesIn(properties?.['stream-position'], only))
      topics.set(topic, { ...place, after: after.get(topic)?.number ?? place.number });
    this.#books.trace.add(
      `${this.#terms.name}: SUBACK, recovered ${recovered}, ${JSON.stringify([...topics])}`,
      [this.#terms.name],
    );
    const begun: Begun = { isRecovered: recovered === 'true', topics };
    if (!begun.isRecovered) this.#gapsSaid += 1;
    if (!this.#ledger.hasBegun) this.#checkStart(begun);
    this.#ledger.begun(begun, Date.now());
  }

  /** Streams that keep all messages give a newcomer what it asks for: some of the last ones, or all. */
  #checkStart({ isRecovered, topics }: Begun): void {
    const { start = {}, name, topics: wanted } = this.#terms;
    const { rewind } = start;
    for (const topic of wanted.filter((each) => each.startsWith('feed/'))) {
      const { number = 0, after = 0 } = topics.get(topic) ?? {};
      const expected = rewind === undefined ? 0 : Math.max(0, number - Number(rewind));
      if (isRecovered && after === expected) continue;
      // Between reading the end of the log and reading its messages.
      if (!isRecovered && this.#hasEpochEnded.get(topic)?.()) continue;
      const what = `start: ${name} begins behind ${after} of ${number} in ${topic}, recovered ${isRecovered}`;
      this.#startProblems.push({ what, about: name });
    }
  }

  #told(refusedWith: number | undefined): void {
    this.#books.trace.add(`${this.#terms.name}: gap ${refusedWith ?? ''}`, [this.#terms.name]);
    if (refusedWith === undefined) this.#gapsTold += 1;
    // Like a program that is told that no more messages come.
    else setTimeout(() => this.#subscribe(), 1_000);
  }

  #received(topic: string, payload: string, packet: IPublishPacket): void {
    const properties = said(packet);
    const position = String(properties?.['stream-position'] ?? '');
    if (this.#isReading) this.#position = position;
    const [[, place] = []] = placesIn(position, topic);
    if (place === undefined) {
      this.#books.wrong(
        `place: ${topic} ${payload} came to ${this.#terms.name} without one`,
        `${topic}=${payload}`,
      );
      return;
    }
    const kind = properties?.['stream-kind'] as string | undefined;
    this.#books.trace.add(`${this.#terms.name}: takes ${topic}=${payload} ${position} ${kind ?? ''}`, [
      `${topic}=${payload}`,
      this.#terms.name,
    ]);
    this.#ledger.received({ topic, payload, place, kind });
  }
}

/** All readers of streams in a history, and the events that a history can cause. */
export class StreamReaders {
  readonly all: StreamReader[];
  readonly #emulator: InProcessEmulator;
  readonly #books: Books;
  #count = 0;

  constructor(emulator: InProcessEmulator, books: Books) {
    this.#emulator = emulator;
    this.#books = books;
    this.all = READERS.map((terms) => new StreamReader(emulator, books, terms));
  }

  get clients(): SimClient[] {
    return this.all.map(({ client }) => client);
  }

  /** Readers that stay have to have every message. */
  get isWaiting(): boolean {
    return this.all.slice(0, READERS.length).some((reader) => reader.isWaiting);
  }

  get hasBegun(): boolean {
    return this.all.slice(0, READERS.length).every((reader) => reader.hasBegun);
  }

  get gaps(): number {
    return this.all.reduce((sum, { gaps }) => sum + gaps, 0);
  }

  get problems(): Problem[] {
    return [...this.#books.streams.problems, ...this.all.flatMap(({ problems }) => problems)];
  }

  /** Each sends a frame: a client whose connection the server has dropped notices it in this way. */
  askNewcomers(): void {
    for (const { client } of this.all.slice(READERS.length))
      if (client.mqtt.connected) client.subscribe('open/asks', 1).catch(() => {});
  }

  /** The client returns at once. */
  end(index: number, how: Exclude<End, 'disconnect'>): void {
    const client = this.all[index]?.client;
    if (client?.mqtt.connected === true) client.end(how);
  }

  /** Reads the history, and stays. */
  newcomer(topic: StreamTopic, rewind: number | undefined): void {
    this.#count += 1;
    const terms: ReaderTerms = {
      name: `newcomer-${this.#count}`,
      filter: topic,
      topics: [topic],
      isExact: false,
      isSingle: true,
      ...(rewind !== undefined && { start: { rewind: String(rewind) } }),
    };
    this.all.push(new StreamReader(this.#emulator, this.#books, terms));
  }
}
