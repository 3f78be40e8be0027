import type { QoS } from '@apus/mqtt';

/** A message as its publisher numbered it: `publisher` and topic make a sequence that begins with 0. */
export interface Numbered {
  readonly topic: string;
  readonly qos: QoS;
  readonly number: number;
}

interface Sequence {
  readonly qos: QoS;
  /** Numbers that were handed to the client library. */
  published: number;
  /** Numbers below this were acknowledged with success. */
  readonly acknowledged: Set<number>;
  /** What each subscriber has received, in its order, repetitions included. */
  readonly received: Map<string, number[]>;
}

/** Told of everything that clients send and receive, it says what was promised and not kept (`problems`). */
export class Ledger {
  readonly #sequences = new Map<string, Sequence>();
  readonly #subscribers: readonly string[];

  constructor(subscribers: readonly string[]) {
    this.#subscribers = subscribers;
  }

  published({ topic, qos, number }: Numbered): void {
    const sequence = this.#sequences.get(topic) ?? {
      qos,
      published: 0,
      acknowledged: new Set(),
      received: new Map(),
    };
    this.#sequences.set(topic, sequence);
    sequence.published = Math.max(sequence.published, number + 1);
  }

  acknowledged(topic: string, number: number): void {
    this.#sequences.get(topic)?.acknowledged.add(number);
  }

  received(subscriber: string, topic: string, number: number): void {
    const sequence = this.#sequences.get(topic);
    if (sequence === undefined) throw new Error(`nobody has published to ${topic}`);
    const numbers = sequence.received.get(subscriber) ?? [];
    numbers.push(number);
    sequence.received.set(subscriber, numbers);
  }

  get counts(): { readonly published: number; readonly acknowledged: number; readonly received: number } {
    const each = [...this.#sequences.values()];
    const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
    return {
      published: sum(each.map(({ published }) => published)),
      acknowledged: sum(each.map(({ acknowledged }) => acknowledged.size)),
      received: sum(each.flatMap(({ received }) => [...received.values()].map(({ length }) => length))),
    };
  }

  /** Acknowledged and still missing somewhere. */
  get missing(): string[] {
    return this.#each((sequence, topic, subscriber, received) => {
      const there = new Set(received);
      return [...sequence.acknowledged]
        .filter((number) => !there.has(number))
        .map((number) => `lost: ${topic} ${number} never came to ${subscriber}`);
    });
  }

  /** All that MQTT promises and was not kept. */
  get problems(): string[] {
    const wrong = this.#each((sequence, topic, subscriber, received) => [
      ...outOfOrder(received).map((what) => `order: ${topic} at ${subscriber}: ${what}`),
      ...(sequence.qos === 2 ? doubled(received) : []).map(
        (number) => `doubled: ${topic} ${number} came twice to ${subscriber}`,
      ),
    ]);
    return [...this.missing, ...wrong];
  }

  #each(
    look: (sequence: Sequence, topic: string, subscriber: string, received: readonly number[]) => string[],
  ): string[] {
    return [...this.#sequences].flatMap(([topic, sequence]) =>
      this.#subscribers.flatMap((subscriber) =>
        look(sequence, topic, subscriber, sequence.received.get(subscriber) ?? []),
      ),
    );
  }
}

/** Order is that of first receipts: a repetition of an older one is allowed at QoS 1 (section 4.6). */
function outOfOrder(received: readonly number[]): string[] {
  const seen = new Set<number>();
  let newest = -1;
  const problems: string[] = [];
  for (const number of received) {
    if (!seen.has(number) && number < newest) problems.push(`${number} came first after ${newest}`);
    seen.add(number);
    newest = Math.max(newest, number);
  }
  return problems;
}

function doubled(received: readonly number[]): number[] {
  return [...new Set(received.filter((number, index) => received.indexOf(number) !== index))];
}
