import type { QoS } from '@apus/mqtt';

/** A message as its publisher numbered it: the numbers of a topic, which has one publisher, rise. */
export interface Numbered {
  readonly topic: string;
  readonly qos: QoS;
  readonly number: number;
}

/** The receivers of the messages of a topic. */
export interface Audience {
  readonly names: readonly string[];
  /** Members of a share group: each message is for one of them. */
  readonly isGroup: boolean;
}

/** A broken promise, and the message or client that it concerns. */
export interface Problem {
  readonly what: string;
  readonly about: string;
}

interface Sequence {
  readonly qos: QoS;
  readonly published: Set<number>;
  /**
   * Numbers that their publisher has sent more than once; with the newest number that it had sent at the last
   * repetition.
   */
  readonly sentAgain: Map<number, number>;
  /** Numbers that the server has acknowledged with success. */
  readonly acknowledged: Set<number>;
  /** The messages that each subscriber has received, in order, repetitions included. */
  readonly received: Map<string, number[]>;
}

/** It observes everything that clients send and receive, and reports broken promises (`problems`). */
export class Ledger {
  readonly #sequences = new Map<string, Sequence>();
  readonly #audienceOf: (topic: string) => Audience;

  constructor(audienceOf: (topic: string) => Audience) {
    this.#audienceOf = audienceOf;
  }

  published({ topic, qos, number }: Numbered): void {
    const sequence = this.#sequences.get(topic) ?? {
      qos,
      published: new Set(),
      sentAgain: new Map(),
      acknowledged: new Set(),
      received: new Map(),
    };
    this.#sequences.set(topic, sequence);
    sequence.published.add(number);
  }

  sentAgain(topic: string, number: number): void {
    const sequence = this.#sequences.get(topic);
    sequence?.sentAgain.set(number, Math.max(...sequence.published));
  }

  acknowledged(topic: string, number: number): void {
    this.#sequences.get(topic)?.acknowledged.add(number);
  }

  received(subscriber: string, topic: string, number: number): void {
    const sequence = this.#sequences.get(topic);
    if (sequence?.published.has(number) !== true)
      throw new Error(`nobody has published ${number} to ${topic}`);
    const numbers = sequence.received.get(subscriber) ?? [];
    numbers.push(number);
    sequence.received.set(subscriber, numbers);
  }

  /** The last message of a topic that the server has acknowledged; -1: none. */
  lastAcknowledged(topic: string): number {
    return Math.max(-1, ...(this.#sequences.get(topic)?.acknowledged ?? []));
  }

  get topics(): readonly string[] {
    return [...this.#sequences.keys()];
  }

  acknowledgedOf(topic: string): readonly number[] {
    return [...(this.#sequences.get(topic)?.acknowledged ?? [])];
  }

  /** Whether it was sent again after `after`, which is newer, had been sent. */
  wasSentAgain(topic: string, number: number, after: number): boolean {
    return (this.#sequences.get(topic)?.sentAgain.get(number) ?? -1) >= after;
  }

  get counts(): { readonly published: number; readonly acknowledged: number; readonly received: number } {
    const each = [...this.#sequences.values()];
    const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
    return {
      published: sum(each.map(({ published }) => published.size)),
      acknowledged: sum(each.map(({ acknowledged }) => acknowledged.size)),
      received: sum(each.flatMap(({ received }) => [...received.values()].map(({ length }) => length))),
    };
  }

  /** Acknowledged messages that a receiver still misses. */
  get missing(): Problem[] {
    return [...this.#sequences].flatMap(([topic, sequence]) => {
      const { names, isGroup } = this.#audienceOf(topic);
      const wanted = isGroup ? [names] : names.map((name) => [name]);
      return wanted.flatMap((some) => missingFrom(topic, sequence, some));
    });
  }

  /** All broken promises of MQTT. */
  get problems(): Problem[] {
    const wrong = [...this.#sequences].flatMap(([topic, sequence]) => {
      const { isGroup } = this.#audienceOf(topic);
      const lines = [...sequence.received].flatMap(([name, numbers]) =>
        outOfOrder(numbers).map(({ number, after }) => ({
          what: `order: ${topic} at ${name}: ${number} came first after ${after}`,
          about: `${topic}=${number}`,
        })),
      );
      return [...(isGroup ? [] : lines), ...doubledIn(topic, sequence, isGroup)];
    });
    return [...this.missing, ...wrong];
  }
}

function missingFrom(
  topic: string,
  { acknowledged, received }: Sequence,
  names: readonly string[],
): Problem[] {
  const there = new Set(names.flatMap((name) => received.get(name) ?? []));
  return [...acknowledged]
    .filter((number) => !there.has(number))
    .map((number) => ({
      what: `lost: ${topic} ${number} never came to ${names.join(' or ')}`,
      about: `${topic}=${number}`,
    }));
}

/** QoS 2 comes once, and QoS 0 at most once: to each subscriber, or to one member of a group. */
function doubledIn(topic: string, { qos, received }: Sequence, isGroup: boolean): Problem[] {
  if (qos === 1) return [];
  const lists: [string, number[]][] = isGroup
    ? [['the group', [...received.values()].flat()]]
    : [...received];
  return lists.flatMap(([name, numbers]) =>
    repeated(numbers).map((number) => ({
      what: `doubled: ${topic} ${number} came twice to ${name}`,
      about: `${topic}=${number}`,
    })),
  );
}

/** Order is that of first receipts: a repetition of an older one is allowed at QoS 1 (section 4.6). */
export function outOfOrder(received: readonly number[]): { number: number; after: number }[] {
  const seen = new Set<number>();
  let newest = -1;
  const found: { number: number; after: number }[] = [];
  for (const number of received) {
    if (!seen.has(number) && number < newest) found.push({ number, after: newest });
    seen.add(number);
    newest = Math.max(newest, number);
  }
  return found;
}

function repeated(received: readonly number[]): number[] {
  return [...new Set(received.filter((number, index) => received.indexOf(number) !== index))];
}
