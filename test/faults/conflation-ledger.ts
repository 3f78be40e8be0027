import type { Problem } from './ledger.ts';
import { nameOf, type Place, type PublishedToStreams, type StreamArrival } from './stream-ledger.ts';

/** The promises to one subscriber with `conflate-ms`: messages may be left out, but the newest of a topic is not. */
export class ConflationLedger {
  readonly #name: string;
  readonly #published: PublishedToStreams;
  readonly #last = new Map<string, { readonly payload: string; readonly place: Place }>();
  /** Messages published before this need not arrive. Undefined: none has to, since no SUBACK has come. */
  #sinceMs: number | undefined;

  constructor(name: string, published: PublishedToStreams) {
    this.#name = name;
    this.#published = published;
  }

  /** SUBSCRIBE is sent: from now on, until SUBACK, messages may be missing, and history may come again. */
  asks(): void {
    this.#sinceMs = undefined;
    this.#last.clear();
  }

  /** SUBACK has come. */
  begins(atMs: number): void {
    this.#sinceMs = atMs;
  }

  received(arrival: StreamArrival): void {
    const { topic, payload, place } = arrival;
    this.#published.seen(arrival);
    this.#last.set(topic, { payload, place });
  }

  /**
   * Call it when the interval is over.
   *
   * @param newest the payload of the topic's newest message. Undefined: it is not known
   */
  problem(topic: string, newest: string | undefined): Problem | undefined {
    if (newest === undefined || this.#sinceMs === undefined) return undefined;
    const last = this.#last.get(topic);
    if (last?.payload === newest || this.#isBehind(topic, newest, last)) return undefined;
    if (this.#published.publishedAtMs(topic, newest) < this.#sinceMs) return undefined;
    return {
      what: `conflated: ${topic} ${newest} is the newest message, and ${last?.payload ?? 'none'} the last at ${this.#name}`,
      about: nameOf(topic, newest),
    };
  }

  /** The subscriber has a message behind it, which was stored and not acknowledged: it has come to no reader. */
  #isBehind(topic: string, newest: string, last: { readonly place: Place } | undefined): boolean {
    if (last === undefined) return false;
    const places = this.#published.placesOf(topic, newest);
    return places.some(({ epoch, number }) => epoch === last.place.epoch && number < last.place.number);
  }
}
