import type { Awaitable } from '@apus/broker';
import type { Packet } from '@apus/mqtt';
import { createJournaledStores, Numbers } from '@apus/store-disk';
import { MemoryBudget } from '@apus/store-memory';
import { FakeDoor, FakeLink } from '../../../broker/test/support/fake-door.ts';
import { Kind } from '../../src/keys.ts';
import { type Action, Cast, pick, turns } from './cast.ts';
import type { HistoryClient } from './client.ts';
import { CrashingJournal } from './crashing-journal.ts';

const NOW_MS = 1_700_000_000_000;
const GRACE_SECONDS = 30;
const WAIT_SECONDS = 12;
/** At rest: all wills that are due come within that. */
const WAITS_AT_REST = 6;
const FAULTS_APART_MAX = 8;
const CALM_STEPS_MAX = 5_000;

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

/**
 * A history of one process over a disk. Publishers and subscribers with sessions are at its door; each packet and each
 * commit comes when a draw says so, connections are cut, and the process dies at any moment and starts anew.
 */
export class History {
  readonly violations: string[] = [];
  #life: Life;
  #isEnding = false;
  #lives = 0;
  readonly #cast = new Cast();
  readonly #current = new Map<HistoryClient, Connection>();

  constructor() {
    this.#life = this.#begin(new CrashingJournal(), NOW_MS);
  }

  /** Plays one step for each draw, and then goes on without faults until nothing is left to do. */
  async play(draws: readonly number[]): Promise<void> {
    await this.#calm();
    // Some histories have few faults, so that queues grow.
    const faultWeight = 1 / (1 + ((draws[0] ?? 0) % FAULTS_APART_MAX));
    for (const draw of draws) {
      pick([...this.#ordinary(), ...this.#cast.publishing(), ...this.#faults(faultWeight)], draw).run();
      await turns();
      if (this.violations.length > 0) return;
    }
    await this.#calm();
    this.#isEnding = true;
    for (const mortal of this.#cast.mortals) {
      const connection = this.#current.get(mortal);
      if (connection !== undefined) this.#cut(connection);
    }
    await this.#calm();
    this.#check();
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
    for (const client of this.#cast.clients) {
      const stays = this.#current.has(client) || (this.#isEnding && this.#cast.mortals.includes(client));
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
    this.violations.push(...this.#cast.check());
  }
}
