import { outOfOrder, type Problem } from './ledger.ts';

interface Seen {
  /** The last number acknowledged to its publisher before SUBSCRIBE was sent; -1: none. */
  readonly floor: number;
  /** Messages from this one on were published after SUBACK. */
  from: number;
  readonly numbers: number[];
  /** The live ones among them: not in answer to SUBSCRIBE. */
  readonly live: number[];
}

/** Probes: how many connected, and how many the server accepted. */
export interface Sent {
  acknowledgedOf(topic: string): readonly number[];
  wasSentAgain(topic: string, number: number, after: number): boolean;
}

/**
 * The promise to one subscriber of retained topics: its first message is no older than the last one that was
 * acknowledged before it subscribed, and each later one reaches it while its connection holds.
 */
export class ProbeLedger {
  readonly #name: string;
  readonly #topics = new Map<string, Seen>();
  #isWhole = true;
  #isSubscribed = false;

  constructor(name: string) {
    this.#name = name;
  }

  subscribes(topic: string, floor: number): void {
    this.#topics.set(topic, { floor, from: Number.POSITIVE_INFINITY, numbers: [], live: [] });
  }

  subscribed(topic: string, from: number): void {
    this.#isSubscribed = true;
    const seen = this.#topics.get(topic);
    if (seen !== undefined) seen.from = from;
  }

  received(topic: string, number: number, isRetained: boolean): void {
    const seen = this.#topics.get(topic);
    seen?.numbers.push(number);
    if (!isRetained) seen?.live.push(number);
  }

  /** Its connection has ended, and its session with it: nothing more is promised. */
  broken(): void {
    this.#isWhole = false;
  }

  /** It stays to the end: every message after its SUBACK has to come. */
  get isOwed(): boolean {
    return this.#isWhole && this.#isSubscribed;
  }

  /** The problems at this moment. */
  problems(sent: Sent): Problem[] {
    return [...this.#topics].flatMap(([topic, seen]) => [
      ...this.#stale(topic, seen),
      ...this.#disorder(topic, seen, sent),
      ...(this.isOwed ? this.#missing(topic, seen, sent.acknowledgedOf(topic)) : []),
    ]);
  }

  #stale(topic: string, { floor, numbers: [first] }: Seen): Problem[] {
    if (first === undefined || first >= floor) return [];
    const what = `stale: ${this.#name} was first given ${topic} ${first}, and ${floor} was acknowledged before`;
    return [{ what, about: `${topic}=${floor}` }];
  }

  /**
   * A retained message comes before all live ones; those are in their order. It may be newer than some of them where a
   * frame of their publisher has several: they are retained one after the other, and leave together. One that has come
   * as retained may come again, live, as a repetition. So may one that was handled before the reader subscribed, for
   * the first time to this one, when its publisher had no answer.
   */
  #disorder(topic: string, { from, numbers, live }: Seen, sent: Sent): Problem[] {
    const isRetainedLate = live.length > 0 && live.length < numbers.length && numbers[0] === live[0];
    const line = isRetainedLate ? numbers : live;
    const isFirst = ({ number, after }: { number: number; after: number }) =>
      numbers.indexOf(number) > numbers.indexOf(after);
    const isOwedInOrder = ({ number, after }: { number: number; after: number }) =>
      number >= from || !sent.wasSentAgain(topic, number, after);
    return outOfOrder(line)
      .filter(isFirst)
      .filter(isOwedInOrder)
      .map(({ number, after }) => ({
        what: `order: ${topic} at ${this.#name}: ${number} came first after ${after}`,
        about: `${topic}=${number}`,
      }));
  }

  #missing(topic: string, { floor, from, numbers }: Seen, acknowledged: readonly number[]): Problem[] {
    const lost = acknowledged
      // A message newer than the first was retained, and therefore matched, after the first was read.
      .filter((number) => number >= Math.min(from, (numbers[0] ?? from) + 1) && !numbers.includes(number))
      .map((number) => ({
        what: `lost: ${topic} ${number} never came to ${this.#name}, which had subscribed`,
        about: `${topic}=${number}`,
      }));
    const newest = Math.max(-1, ...acknowledged);
    const last = Math.max(-1, ...numbers);
    if (floor >= 0 && last < newest) {
      const what = `retained: the newest of ${topic} that ${this.#name} has is ${last}, not ${newest}`;
      lost.push({ what, about: `${topic}=${newest}` });
    }
    return lost;
  }
}
