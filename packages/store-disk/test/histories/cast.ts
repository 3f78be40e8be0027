import type { QoS } from '@apus/mqtt';
import { HistoryClient } from './client.ts';

/** Unacknowledged messages of a publisher. */
const WINDOW = 5;
/** Each draw is below it. */
export const DRAWS = 10_000;

interface Subscriber {
  readonly clientId: string;
  readonly topicFilter: string;
  readonly qos: QoS;
  readonly receiveMaximum: number;
  readonly group?: string;
}

interface Publisher {
  readonly client: HistoryClient;
  readonly qos: QoS;
  /** What its payloads begin with. */
  readonly name: string;
  count: number;
}

export interface Action {
  readonly weight: number;
  readonly run: () => void;
}

const SUBSCRIBERS: readonly Subscriber[] = [
  { clientId: 'exactly', topicFilter: '#', qos: 2, receiveMaximum: 3 },
  { clientId: 'slowly', topicFilter: '#', qos: 2, receiveMaximum: 1 },
  { clientId: 'at-least', topicFilter: '#', qos: 1, receiveMaximum: 2 },
  { clientId: 'member-1', topicFilter: '$share/g/#', qos: 2, receiveMaximum: 1, group: 'group' },
  { clientId: 'member-2', topicFilter: '$share/g/#', qos: 2, receiveMaximum: 2, group: 'group' },
];

/** The subscribers that get each message once. */
const ONCE = ['exactly', 'slowly', 'group'];

/** The clients of a history, and the ledger of what they have published and received. */
export class Cast {
  readonly clients: readonly HistoryClient[];
  /** Clients with wills: at the end they go, and do not come back. */
  readonly mortals: readonly HistoryClient[];
  readonly #publishers: readonly Publisher[];
  /** By subscriber or share group, what it was given, in order. */
  readonly #received = new Map<string, string[]>();
  /** What a subscriber was given on each of its connections, at whose end its session ends. */
  readonly #passing: string[][] = [];
  readonly #abandoned = new Set<string>();

  /** @param withPassing a publisher and a subscriber whose sessions end with their connections take part as well */
  constructor(withPassing = false) {
    const subscribers = SUBSCRIBERS.map(
      ({ clientId, topicFilter, qos, receiveMaximum, group = clientId }) => {
        this.#received.set(group, []);
        const received = (payload: string) => void this.#received.get(group)?.push(payload);
        return new HistoryClient({ clientId, receiveMaximum, subscribe: { topicFilter, qos }, received });
      },
    );
    this.#publishers = ([1, 2] as const).map((qos) => ({
      client: new HistoryClient({ clientId: `publisher-${qos}` }),
      ...{ qos, name: String(qos), count: 0 },
    }));
    this.mortals = [
      new HistoryClient({ clientId: 'mortal', hasWill: true }),
      new HistoryClient({ clientId: 'mayfly', hasWill: true, expirySeconds: 0 }),
    ];
    const passing = withPassing ? [this.#passingSubscriber()] : [];
    if (withPassing) this.#publishers = [...this.#publishers, this.#passingPublisher()];
    const publishers = this.#publishers.map(({ client }) => client);
    this.clients = [...subscribers, ...passing, ...this.mortals, ...publishers];
  }

  /** Each publisher with room in its window publishes its next message. */
  publishing(): Action[] {
    return this.#publishers
      .filter(({ client }) => client.unacknowledged < WINDOW)
      .map((publisher) => ({
        weight: 2,
        run: () => {
          publisher.count += 1;
          publisher.client.publish('t', nameOf(publisher, publisher.count), publisher.qos);
        },
      }));
  }

  /** How many messages the slowest subscriber is behind, at most. */
  get lag(): number {
    const published = this.#publishers.reduce((sum, { count }) => sum + count, 0);
    const due = published - this.#abandoned.size;
    return due - Math.min(...Array.from(this.#received.values(), (payloads) => new Set(payloads).size));
  }

  /** Everything that is wrong when nothing is left to do. */
  check(): string[] {
    return [...this.checkMessages(), ...this.#wrongWills()];
  }

  checkMessages(): string[] {
    return this.#publishers.flatMap((publisher) => this.#wrongOf(publisher));
  }

  #passingSubscriber(): HistoryClient {
    return new HistoryClient({
      ...{
        clientId: 'passing',
        expirySeconds: 0,
        receiveMaximum: 2,
        subscribe: { topicFilter: '#', qos: 2 },
      },
      connected: () => void this.#passing.push([]),
      received: (payload) => void this.#passing.at(-1)?.push(payload),
    });
  }

  #passingPublisher(): Publisher {
    const abandoned = (payload: string) => void this.#abandoned.add(payload);
    const client = new HistoryClient({ clientId: 'passing-publisher', expirySeconds: 0, abandoned });
    return { client, qos: 2, name: '3', count: 0 };
  }

  #wrongOf(publisher: Publisher): string[] {
    const { client, qos, name, count } = publisher;
    const wrong = client.unacknowledged > 0 ? [`${client.clientId} has not been answered`] : [];
    const all = Array.from({ length: count }, (_, index) => nameOf(publisher, index + 1));
    const isIts = (payload: string) => payload.startsWith(`${name}-`);
    for (const [subscriber, payloads] of this.#received) {
      const its = payloads.filter(isIts);
      const isOnce = qos === 2 && ONCE.includes(subscriber);
      const got = isOnce ? its : [...new Set(its)];
      // The members of a group get their messages side by side.
      if (subscriber === 'group') got.sort((one, other) => numberOf(one) - numberOf(other));
      const due = all.filter((payload) => !this.#abandoned.has(payload) || got.includes(payload));
      if (got.join() !== due.join()) wrong.push(`${subscriber} of ${client.clientId}: ${got.join()}`);
    }
    for (const payloads of this.#passing) {
      const its = payloads.filter(isIts);
      // At QoS 1 a message from before the connection may be repeated on it.
      const isNew = (payload: string) => numberOf(payload) >= numberOf(its[0] ?? '');
      const got = qos === 2 ? its : [...new Set(its)].filter(isNew);
      const [first = '', last = ''] = [got[0], got.at(-1)];
      const due = all.slice(all.indexOf(first), all.indexOf(last) + 1);
      const missing = due.filter((payload) => !this.#abandoned.has(payload) || got.includes(payload));
      if (got.length > 0 && got.join() !== missing.join())
        wrong.push(`a connection of passing, of ${client.clientId}: ${got.join()}`);
    }
    return wrong;
  }

  /** A will comes once, to all or to none; that of a client that has not come back comes. */
  #wrongWills(): string[] {
    const wrong: string[] = [];
    const [first = [], ...others] = ONCE.map((name) => {
      const wills = (this.#received.get(name) ?? []).filter((payload) => payload.startsWith('will '));
      return wills.sort();
    });
    if (new Set(first).size < first.length) wrong.push(`wills came twice: ${first.join()}`);
    for (const wills of others)
      if (wills.join() !== first.join()) wrong.push(`wills differ: ${first.join()} and ${wills.join()}`);
    for (const { will } of this.mortals) if (!first.includes(will)) wrong.push(`${will} did not come`);
    return wrong;
  }
}

/** @param draw below `DRAWS` */
export function pick(actions: readonly Action[], draw: number): Action {
  let left = (draw / DRAWS) * actions.reduce((sum, { weight }) => sum + weight, 0);
  for (const action of actions) {
    left -= action.weight;
    if (left < 0) return action;
  }
  throw new Error('there is nothing to do');
}

/** Lets the process do all that it can do by itself. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

function nameOf({ name }: Publisher, number: number): string {
  return `${name}-${number}`;
}

function numberOf(name: string): number {
  return Number(name.slice(2));
}
