import type { Awaitable } from '@apus/broker';
import type { Packet, QoS } from '@apus/mqtt';
import { createJournaledStores, Numbers } from '@apus/store-disk';
import { MemoryBudget } from '@apus/store-memory';
import { FakeDoor, FakeLink } from '../../../broker/test/support/fake-door.ts';
import { Kind } from '../../src/keys.ts';
import { HistoryClient } from './client.ts';
import { CrashingJournal } from './crashing-journal.ts';

const NOW_MS = 1_700_000_000_000;
const GRACE_SECONDS = 30;
const WAIT_SECONDS = 12;
/** At rest: all wills that are due come within that. */
const WAITS_AT_REST = 6;
/** Unacknowledged messages of a publisher. */
const WINDOW = 5;
/** Each draw is below it. */
export const DRAWS = 10_000;
const FAULTS_APART_MAX = 8;
const CALM_STEPS_MAX = 5_000;

interface Subscriber {
  readonly clientId: string;
  readonly topicFilter: string;
  readonly qos: QoS;
  readonly receiveMaximum: number;
  readonly group?: string;
}

const SUBSCRIBERS: readonly Subscriber[] = [
  { clientId: 'exactly', topicFilter: '#', qos: 2, receiveMaximum: 3 },
  { clientId: 'slowly', topicFilter: '#', qos: 2, receiveMaximum: 1 },
  { clientId: 'at-least', topicFilter: '#', qos: 1, receiveMaximum: 2 },
  { clientId: 'member-1', topicFilter: '$share/g/#', qos: 2, receiveMaximum: 1, group: 'group' },
  { clientId: 'member-2', topicFilter: '$share/g/#', qos: 2, receiveMaximum: 2, group: 'group' },
];

/** A client's connection. The broker handles one packet at a time. */
interface Connection {
  readonly link: FakeLink;
  readonly client: HistoryClient;
  /** Packets on their way to the client. */
  readonly inbound: Packet[];
  /** Calls of the broker for the connection, beside its packets. */
  calls: (() => Awaitable<void>)[];
  isBusy: boolean;
  /** The network has cut it, and the broker has not been told yet. */
  isCut: boolean;
}

interface Life {
  readonly journal: CrashingJournal;
  readonly door: FakeDoor;
  readonly connections: Set<Connection>;
}

interface Action {
  readonly weight: number;
  readonly run: () => void;
}

/**
 * A history of one process over a disk. Publishers and subscribers with sessions are at its door; each packet and each
 * commit comes when a draw says so, connections are cut, and the process dies at any moment and starts anew.
 */
export class History {
  readonly violations: string[] = [];
  #life: Life;
  #isEnding = false;
  #lives = 0;
  readonly #publishers: readonly { readonly client: HistoryClient; readonly qos: QoS; count: number }[];
  readonly #mortals: readonly HistoryClient[];
  readonly #clients: readonly HistoryClient[];
  readonly #current = new Map<HistoryClient, Connection>();
  /** By subscriber or share group, what it was given, in order. */
  readonly #received = new Map<string, string[]>();

  constructor() {
    const subscribers = SUBSCRIBERS.map(
      ({ clientId, topicFilter, qos, receiveMaximum, group = clientId }) => {
        this.#received.set(group, []);
        const received = (payload: string) => void this.#received.get(group)?.push(payload);
        return new HistoryClient({ clientId, receiveMaximum, subscribe: { topicFilter, qos }, received });
      },
    );
    this.#publishers = ([1, 2] as const).map((qos) => ({
      client: new HistoryClient({ clientId: `publisher-${qos}` }),
      qos,
      count: 0,
    }));
    this.#mortals = [
      new HistoryClient({ clientId: 'mortal', hasWill: true }),
      new HistoryClient({ clientId: 'mayfly', hasWill: true, expirySeconds: 0 }),
    ];
    this.#clients = [...subscribers, ...this.#mortals, ...this.#publishers.map(({ client }) => client)];
    this.#life = this.#begin(new CrashingJournal(), NOW_MS);
  }

  /** Plays one step for each draw, and then goes on without faults until nothing is left to do. */
  async play(draws: readonly number[]): Promise<void> {
    await this.#calm();
    // Some histories have few faults, so that queues grow.
    const faultWeight = 1 / (1 + ((draws[0] ?? 0) % FAULTS_APART_MAX));
    for (const draw of draws) {
      pick([...this.#ordinary(), ...this.#publishing(), ...this.#faults(faultWeight)], draw).run();
      await turns();
      if (this.violations.length > 0) return;
    }
    await this.#calm();
    this.#isEnding = true;
    for (const mortal of this.#mortals) {
      const connection = this.#current.get(mortal);
      if (connection !== undefined) this.#cut(connection);
    }
    await this.#calm();
    this.#check();
    this.#checkWills();
  }

  #begin(journal: CrashingJournal, nowMs: number): Life {
    this.#lives += 1;
    const life = this.#lives;
    const stores = createJournaledStores({
      journal,
      clock: { now: () => door.nowMs },
      memory: new MemoryBudget(),
      numbers: new Numbers(),
      onFailure: (error) => this.violations.push(String(error)),
    });
    const door: FakeDoor = new FakeDoor({
      openLink: (id) => new FakeLink(`${life}-${id}`),
      wrap: (memory) => ({ ...memory, ...stores }),
    });
    door.nowMs = nowMs;
    const { lastMessageId, dueTimers } = stores.adopt(journal, GRACE_SECONDS);
    for (const { timer, dueAtMs } of dueTimers) door.remind(timer, dueAtMs);
    if (lastMessageId !== undefined) door.broker.messageClock.observe(lastMessageId);
    return { journal, door, connections: new Set() };
  }

  /** The process dies, and all that it had in memory with it. */
  #crash(): void {
    const { journal, door, connections } = this.#life;
    for (const { client } of connections) client.cut();
    this.#current.clear();
    // Each life gives other ids to its messages.
    this.#life = this.#begin(journal.next(), door.nowMs + 1);
  }

  #connect(client: HistoryClient): void {
    const { door, connections } = this.#life;
    const connection: Connection = {
      link: door.open(),
      client,
      inbound: [],
      calls: [],
      isBusy: false,
      isCut: false,
    };
    connection.link.onDrainSoon = () => void connection.calls.push(() => door.broker.drain(connection.link));
    connections.add(connection);
    this.#current.set(client, connection);
    client.connect();
  }

  /** The network cuts the connection: packets under way are lost, and the broker hears of it later. */
  #cut(connection: Connection): void {
    const { door, connections } = this.#life;
    const { client, link } = connection;
    connection.isCut = true;
    connection.calls = [
      () => {
        connections.delete(connection);
        return door.cut(link);
      },
    ];
    this.#current.delete(client);
    client.cut();
  }

  /** The broker begins with what the connection asks of it, and is busy with that until it has answered. */
  #call(connection: Connection, call: () => Awaitable<void>): void {
    connection.isBusy = true;
    const ended = () => {
      connection.isBusy = false;
    };
    Promise.resolve(call()).then(ended, (error: unknown) => {
      ended();
      this.violations.push(`${connection.client.clientId}: ${error}`);
    });
  }

  /** Everything that may happen next, other than a fault. */
  #ordinary(): Action[] {
    const { door, journal, connections } = this.#life;
    const actions: Action[] = [];
    const add = (weight: number, run: () => void) => actions.push({ weight, run });
    if (journal.isBusy) add(8, () => journal.write()());
    for (const connection of connections) {
      const { link, client } = connection;
      connection.inbound.push(...link.take());
      const [call] = connection.calls;
      if (!connection.isBusy && call !== undefined)
        add(4, () => {
          connection.calls.shift();
          this.#call(connection, call);
        });
      if (connection.isCut) continue;
      if (!link.isOpen && connection.inbound.length === 0) add(4, () => this.#cut(connection));
      if (connection.inbound.length > 0)
        add(4, () => {
          const packet = connection.inbound.shift();
          if (packet !== undefined) client.receive(packet);
        });
      if (!connection.isBusy && client.outbound.length > 0)
        add(4, () => {
          const packet = client.outbound.shift();
          if (packet !== undefined) this.#call(connection, () => door.broker.receive(link, packet));
        });
    }
    for (const client of this.#clients) {
      const stays = this.#current.has(client) || (this.#isEnding && this.#mortals.includes(client));
      if (!stays) add(3, () => this.#connect(client));
    }
    return actions;
  }

  /** Time passes, and timers fire. */
  #wait(): void {
    this.#life.door
      .advance(WAIT_SECONDS)
      .catch((error: unknown) => this.violations.push(`a timer: ${error}`));
  }

  #faults(weight: number): Action[] {
    const { journal } = this.#life;
    const crashes = [() => this.#crash(), () => this.#wait()];
    // The disk has the commit, and the process has not heard of it.
    if (journal.isBusy)
      crashes.push(() => {
        journal.write();
        this.#crash();
      });
    const cuts = [...this.#current.values()].map((connection) => () => this.#cut(connection));
    return [...crashes, ...cuts].map((run) => ({ weight, run }));
  }

  #publishing(): Action[] {
    return this.#publishers
      .filter(({ client }) => client.unacknowledged < WINDOW)
      .map((publisher) => ({
        weight: 2,
        run: () => {
          publisher.count += 1;
          publisher.client.publish('t', nameOf(publisher.qos, publisher.count), publisher.qos);
        },
      }));
  }

  /** Goes on until nothing is left to do. */
  async #calm(): Promise<void> {
    let waits = 0;
    for (let step = 0; step < CALM_STEPS_MAX; step += 1) {
      const actions = this.#ordinary();
      if (actions.length === 0 && waits === WAITS_AT_REST) return;
      if (actions.length === 0) {
        waits += 1;
        this.#wait();
      } else actions[step % actions.length]?.run();
      await turns();
    }
    this.violations.push(`not at rest after ${CALM_STEPS_MAX} steps`);
  }

  #check(): void {
    for (const kind of [Kind.CompletedCopy, Kind.Receipt, Kind.Queued, Kind.Inflight])
      for (const [key] of this.#life.journal.scan(kind)) this.violations.push(`the disk still has ${key}`);
    for (const { client, qos, count } of this.#publishers) {
      if (client.unacknowledged > 0) this.violations.push(`${client.clientId} has not been answered`);
      const all = Array.from({ length: count }, (_, index) => nameOf(qos, index + 1));
      for (const [name, payloads] of this.#received) {
        const its = payloads.filter((payload) => payload.startsWith(`${qos}-`));
        const isOnce = qos === 2 && ONCE.includes(name);
        const got = isOnce ? its : [...new Set(its)];
        // The members of a group get their messages side by side.
        if (name === 'group') got.sort((one, other) => numberOf(one) - numberOf(other));
        if (got.join() !== all.join()) this.violations.push(`${name} of QoS ${qos}: ${got.join()}`);
      }
    }
  }

  /** A will comes once, to all or to none; that of a client that has not come back comes. */
  #checkWills(): void {
    const [first = [], ...others] = ONCE.map((name) => {
      const wills = (this.#received.get(name) ?? []).filter((payload) => payload.startsWith('will '));
      return wills.sort();
    });
    if (new Set(first).size < first.length) this.violations.push(`wills came twice: ${first.join()}`);
    for (const wills of others)
      if (wills.join() !== first.join())
        this.violations.push(`wills differ: ${first.join()} and ${wills.join()}`);
    for (const { will } of this.#mortals)
      if (!first.includes(will)) this.violations.push(`${will} did not come`);
  }
}

/** The subscribers that get each message once. */
const ONCE = ['exactly', 'slowly', 'group'];

function pick(actions: readonly Action[], draw: number): Action {
  let left = (draw / DRAWS) * actions.reduce((sum, { weight }) => sum + weight, 0);
  for (const action of actions) {
    left -= action.weight;
    if (left < 0) return action;
  }
  throw new Error('there is nothing to do');
}

function nameOf(qos: QoS, number: number): string {
  return `${qos}-${number}`;
}

function numberOf(name: string): number {
  return Number(name.slice(2));
}

/** Lets the process do all that it can do by itself. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
