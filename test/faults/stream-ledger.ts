import type { Problem } from './ledger.ts';

/** A place in the log of a topic, as positions say it. */
export interface Place {
  readonly epoch: string;
  readonly number: number;
}

/** A message of a stream as a reader received it. */
export interface StreamArrival {
  readonly topic: string;
  readonly payload: string;
  readonly place: Place;
  /** `stream-kind`. Undefined: it was sent live. */
  readonly kind: string | undefined;
}

/** SUBACK's properties for one topic. */
export interface TopicBegun extends Place {
  /** `stream-after`: history begins after this number. `number` if there is none. */
  readonly after: number;
}

/** A SUBACK that grants a reading. */
export interface Begun {
  readonly isRecovered: boolean;
  readonly topics: ReadonlyMap<string, TopicBegun>;
}

/** The messages that were published to topics of streams, and where readers have seen them. Readers' ledgers share it. */
export class PublishedToStreams {
  /** By topic and payload: when it was published. */
  readonly #publishedAtMs = new Map<string, number>();
  readonly #acknowledged = new Map<string, string[]>();
  /** How many handlers have begun with a message: its client, or the transport, repeats it if it was not answered. */
  readonly #handlers = new Map<string, number>();
  readonly #places = new Map<string, Map<string, Place>>();
  readonly #payloadAt = new Map<string, string>();
  readonly #newest = new Map<string, string>();
  readonly #problems: Problem[] = [];
  /** By topic: calls that end its epoch, and the completed ones. */
  readonly #epochEnds = new Map<string, { begun: number; over: number }>();

  published(topic: string, payload: string, atMs: number): void {
    this.#publishedAtMs.set(nameOf(topic, payload), atMs);
  }

  /** A handler begins with the message of this name: each may give it a place. */
  handled(name: string): void {
    this.#handlers.set(name, (this.#handlers.get(name) ?? 0) + 1);
  }

  /** The owner ends the epoch of the topic. Returns a function to call when that is done. */
  endsEpoch(topic: string): () => void {
    const ends = this.#epochEnds.get(topic) ?? { begun: 0, over: 0 };
    this.#epochEnds.set(topic, ends);
    ends.begun += 1;
    return () => {
      ends.over += 1;
    };
  }

  /** Returns a function that tells later whether an epoch of the topic has ended meanwhile. */
  epochsFrom(topic: string): () => boolean {
    const { over } = this.#epochEnds.get(topic) ?? { over: 0 };
    return () => (this.#epochEnds.get(topic)?.begun ?? 0) > over;
  }

  acknowledged(topic: string, payload: string): void {
    const payloads = this.#acknowledged.get(topic) ?? [];
    this.#acknowledged.set(topic, payloads);
    if (!payloads.includes(payload)) payloads.push(payload);
  }

  acknowledgedOf(topic: string): readonly string[] {
    return this.#acknowledged.get(topic) ?? [];
  }

  publishedAtMs(topic: string, payload: string): number {
    return this.#publishedAtMs.get(nameOf(topic, payload)) ?? 0;
  }

  placesOf(topic: string, payload: string): readonly Place[] {
    return [...(this.#places.get(nameOf(topic, payload))?.values() ?? [])];
  }

  /** A reader received it: all readers have to get the same message at the same position. */
  seen({ topic, payload, place }: StreamArrival): void {
    const name = nameOf(topic, payload);
    const where = `${topic} ${textOf(place)}`;
    const other = this.#payloadAt.get(where) ?? payload;
    if (other !== payload) this.#wrong(`place: ${other} and ${payload} are both ${where}`, name);
    this.#payloadAt.set(where, payload);
    const places = this.#places.get(name) ?? new Map<string, Place>();
    this.#places.set(name, places.set(textOf(place), place));
    // After the end of its epoch a topic delivers its messages in the next one, with their numbers.
    const numbers = new Set([...places.values()].map(({ number }) => number));
    const handlers = this.#handlers.get(name) ?? 0;
    if (numbers.size > handlers)
      this.#wrong(
        `doubled: ${name} had ${handlers} handlers and is at ${[...places.keys()].join(' and ')}`,
        name,
      );
  }

  /** An exact reader received it: it comes after all that this reader has received. */
  came({ topic, payload }: StreamArrival): void {
    this.#newest.set(topic, payload);
  }

  /** The payload of the topic's newest message that an exact reader has received. */
  newestOf(topic: string): string | undefined {
    return this.#newest.get(topic);
  }

  get problems(): readonly Problem[] {
    return this.#problems;
  }

  #wrong(what: string, about: string): void {
    this.#problems.push({ what, about });
  }
}

export interface ReaderOptions {
  readonly name: string;
  /** It is promised every message once, and in the order of numbers. */
  readonly isExact: boolean;
}

/** The promises to one reader of streams, judged by its SUBACKs and messages alone. */
export class ReaderLedger {
  readonly #options: ReaderOptions;
  readonly #published: PublishedToStreams;
  /** The position of an exact reader, and the newest message that its last SUBACK named. */
  readonly #topics = new Map<string, { epoch: string; last: number; newest: number }>();
  /** The same at the moment when the last SUBSCRIBE was sent. */
  #asked: ReadonlyMap<string, { readonly epoch: string; readonly last: number }> | undefined;
  readonly #begun: (Begun & { readonly atMs: number; readonly isFirst: boolean })[] = [];
  readonly #seen = new Set<string>();
  readonly #problems: Problem[] = [];

  constructor(published: PublishedToStreams, options: ReaderOptions) {
    this.#published = published;
    this.#options = options;
  }

  get hasBegun(): boolean {
    return this.#begun.length > 0;
  }

  /** SUBSCRIBE is sent: messages that come before SUBACK were not known when the position was named. */
  asked(): void {
    this.#asked = new Map(this.#topics);
  }

  /** SUBACK has come, before any message that it brings. */
  begun(begun: Begun, atMs: number): void {
    const isFirst = !this.hasBegun;
    this.#begun.push({ ...begun, atMs, isFirst });
    if (!this.#options.isExact) return;
    if (!isFirst && begun.isRecovered) this.#goesOn(begun);
    if (!isFirst && !begun.isRecovered) this.#checkGap(begun);
    for (const [topic, { epoch, number, after }] of begun.topics) {
      const known = this.#topics.get(topic);
      // Live messages may have come since the SUBSCRIBE that is answered.
      const isSame = known !== undefined && known.epoch === epoch && known.last <= number;
      const last = isSame ? Math.max(known.last, after) : after;
      this.#topics.set(topic, { epoch, last, newest: number });
    }
  }

  received(arrival: StreamArrival): void {
    const { topic, payload, place, kind } = arrival;
    this.#published.seen(arrival);
    this.#seen.add(nameOf(topic, payload));
    if (!this.#options.isExact) return;
    this.#published.came(arrival);
    const known = this.#topics.get(topic) ?? { epoch: place.epoch, last: 0, newest: 0 };
    if (kind === 'snapshot') {
      // The last values stand for all that was there: behind them it goes on with live messages. A value that came with a
      // SUBACK which was lost on its way is behind that.
      this.#topics.set(topic, { ...known, last: Math.max(known.newest, place.number) });
      return;
    }
    // It may skip a message whose handler died before its publisher was answered: that one was not acknowledged.
    const isLater = place.number > known.last;
    // The topic was silent for long: a reader that was connected all along continues.
    const isAnew = place.epoch !== known.epoch && place.number === 1;
    if (!isLater && !isAnew)
      this.#wrong(
        `order: ${topic} at ${this.#name}: ${textOf(place)} came behind ${known.epoch}-${known.last}`,
        topic,
        payload,
      );
    this.#topics.set(topic, { ...known, epoch: place.epoch, last: place.number });
  }

  /** Acknowledged messages that were neither seen nor reported as missing by a SUBACK. */
  missing(topics: readonly string[]): Problem[] {
    return topics.flatMap((topic) =>
      this.#published
        .acknowledgedOf(topic)
        .filter((payload) => !this.#seen.has(nameOf(topic, payload)) && this.#isOwed(topic, payload))
        .map((payload) => ({
          what: `lost: ${topic} ${payload} never came to ${this.#name}, and nothing was said`,
          about: nameOf(topic, payload),
        })),
    );
  }

  get problems(): readonly Problem[] {
    return this.#problems;
  }

  get #name(): string {
    return this.#options.name;
  }

  #isOwed(topic: string, payload: string): boolean {
    const places = this.#published.placesOf(topic, payload);
    const atMs = this.#published.publishedAtMs(topic, payload);
    return !this.#begun.some((begun) => isExcusedBy(begun, topic, places, atMs));
  }

  /** "True": it may not begin after the last message that the reader has seen, nor in another epoch. */
  #goesOn({ topics }: Begun): void {
    for (const [topic, { epoch, after }] of topics) {
      const known = this.#topics.get(topic);
      if (known === undefined) continue;
      if (known.epoch !== epoch)
        this.#wrong(
          `recovered: ${topic} at ${this.#name} from epoch ${known.epoch} to ${epoch}, and true`,
          topic,
        );
      else if (after > known.last)
        this.#wrong(
          `recovered: ${topic} at ${this.#name} begins behind ${after}, not ${known.last}, and true`,
          topic,
        );
    }
  }

  /**
   * "False" requires a missing message: a reader that has seen all would reload for nothing. Of a topic that it did not
   * know it has missed the messages that are no longer sent.
   */
  #checkGap({ topics }: Begun): void {
    const asked = this.#asked ?? this.#topics;
    const isWhole = [...asked].every(([topic, { epoch, last }]) => {
      const now = topics.get(topic);
      return now !== undefined && now.epoch === epoch && now.number <= last;
    });
    const knowsAll = [...topics].every(([topic, { after }]) => asked.has(topic) || after === 0);
    if (isWhole && knowsAll && this.#topics.size > 0)
      this.#wrong(`gap: ${this.#name} has everything, and SUBACK says false`, this.#name);
  }

  #wrong(what: string, topic: string, payload?: string): void {
    this.#problems.push({ what, about: payload === undefined ? topic : nameOf(topic, payload) });
  }
}

/** Messages from before the reader began, or from before a reported gap. */
function isExcusedBy(
  begun: Begun & { readonly atMs: number; readonly isFirst: boolean },
  topic: string,
  places: readonly Place[],
  publishedAtMs: number,
): boolean {
  if (begun.isRecovered && !begun.isFirst) return false;
  const now = begun.topics.get(topic);
  const isBefore = publishedAtMs < begun.atMs;
  if (now === undefined) return isBefore && !begun.isRecovered;
  const place = places.find(({ epoch }) => epoch === now.epoch);
  // It is of another epoch; or no reader has seen it, and the past began behind messages.
  if (place === undefined) return isBefore && (places.length > 0 || !begun.isRecovered || now.after > 0);
  return place.number <= (begun.isRecovered ? now.after : now.number);
}

export function nameOf(topic: string, payload: string): string {
  return `${topic}=${payload}`;
}

function textOf({ epoch, number }: Place): string {
  return `${epoch}-${number}`;
}
