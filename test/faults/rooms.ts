import type { InProcessEmulator } from '@apus/emulated-aws';
import type { Books } from './cast.ts';
import type { Problem } from './ledger.ts';
import { RoomTruth, TOLD_WITHIN_MS, WatcherLedger } from './presence-ledger.ts';
import { RoomWatcher } from './room-watcher.ts';
import { SimClient } from './sim-client.ts';
import type { End } from './steps.ts';

const ROOM = '$presence/hall/';

/** A refused publication is repeated after this time, as by a program that wants to be present. */
const AGAIN_MS = 500;

interface Terms {
  readonly name: string;
  readonly member: string;
  readonly sessionExpirySeconds: number;
}

/** Two clients share a member, as two tabs do. The last one is present all the time, except for faults. */
const DWELLERS: readonly Terms[] = [
  { name: 'dweller-0', member: 'both', sessionExpirySeconds: 0 },
  { name: 'dweller-1', member: 'both', sessionExpirySeconds: 86_400 },
  { name: 'dweller-2', member: 'two', sessionExpirySeconds: 0 },
  { name: 'dweller-3', member: 'three', sessionExpirySeconds: 86_400 },
  { name: 'dweller-4', member: 'steady', sessionExpirySeconds: 0 },
];

/**
 * One watcher gets the changes while it is away, and the whole room once; the other gets the room on each connection.
 */
const WATCHERS = [
  { name: 'room-watcher-0', sessionExpirySeconds: 86_400 },
  { name: 'room-watcher-1', sessionExpirySeconds: 0 },
] as const;

/** A program in a room, as described in docs/presence.md: it publishes in `connect`. */
class Dweller {
  readonly client: SimClient;
  readonly terms: Terms;
  readonly #truth: RoomTruth;
  #data = '0';
  #isPublishing = false;
  /** The server may not know the data on this connection. */
  #isUnsaid = false;

  constructor(emulator: InProcessEmulator, books: Books, truth: RoomTruth, terms: Terms) {
    this.terms = terms;
    this.#truth = truth;
    const { name: clientId, member, sessionExpirySeconds } = terms;
    this.client = new SimClient(
      emulator,
      { clientId, sessionExpirySeconds },
      {
        connected: () => {
          truth.connected(clientId, member);
          this.#isUnsaid = true;
          this.#publish();
        },
        ended: () => truth.ended(clientId, member),
        told: (what) => {
          if (what === 'lost') truth.lost(clientId);
          if (what === 'resumed') truth.resumed(clientId);
        },
      },
      books.trace,
    );
  }

  get isBusy(): boolean {
    return this.#isPublishing || this.#isUnsaid || this.client.hasUnsent;
  }

  say(data: string): void {
    this.#data = data;
    this.#isUnsaid = true;
    this.#publish();
  }

  /** One publish at a time: a message of an earlier connection never comes after a later one. */
  #publish(): void {
    if (this.#isPublishing || !this.#isUnsaid || !this.client.mqtt.connected) return;
    const data = this.#data;
    const { name, member } = this.terms;
    const { connections } = this.client;
    this.#isPublishing = true;
    this.#isUnsaid = false;
    this.#truth.asks(name, member, data);
    this.client.mqtt.publish(`${ROOM}${member}`, data, { qos: 1 }, (error) => {
      this.#isPublishing = false;
      const isOfThis = connections === this.client.connections;
      if (!error && isOfThis) this.#truth.says(name, data);
      // Sent again by mqtt.js on a later connection, or refused.
      if (error || !isOfThis) this.#isUnsaid = true;
      if (error) setTimeout(() => this.#publish(), AGAIN_MS);
      else this.#publish();
    });
  }
}

/** A client that watches the room, and the messages that it received. */
class Watcher {
  readonly client: SimClient;
  readonly ledger: WatcherLedger;
  readonly #program: RoomWatcher;

  constructor(
    emulator: InProcessEmulator,
    books: Books,
    truth: RoomTruth,
    { name, sessionExpirySeconds }: { readonly name: string; readonly sessionExpirySeconds: number },
  ) {
    this.ledger = new WatcherLedger(name, truth);
    this.#program = new RoomWatcher({
      ledger: this.ledger,
      subscribe: async () => await this.client.subscribe(`${ROOM}+`, 1),
      isConnected: () => this.client.mqtt.connected,
    });
    this.client = new SimClient(
      emulator,
      { clientId: name, sessionExpirySeconds },
      {
        connected: (_, isSessionPresent) => {
          this.ledger.listens();
          this.#program.connected(isSessionPresent);
        },
        told: (what) => {
          if (what === 'resumed') this.ledger.listens();
          if (what === 'gap') this.#program.gap();
        },
        message: (topic, data) => {
          if (topic.startsWith(ROOM)) this.ledger.told(topic.slice(ROOM.length), data);
        },
      },
      books.trace,
    );
  }

  get hasBegun(): boolean {
    return this.#program.hasBegun;
  }
}

/** A room, its members and its watchers, and the events that a history can cause. */
export class Rooms {
  readonly #emulator: InProcessEmulator;
  readonly #books: Books;
  readonly #truth = new RoomTruth({
    nowMs: () => Date.now(),
    isOpen: (client) => this.#isOpen(client),
  });
  readonly #dwellers: readonly Dweller[];
  readonly #watchers: Watcher[];
  readonly #problems: Problem[] = [];
  #said = 0;

  constructor(emulator: InProcessEmulator, books: Books, isUsed: boolean) {
    this.#emulator = emulator;
    this.#books = books;
    const watchers = isUsed ? WATCHERS : [];
    const dwellers = isUsed ? DWELLERS : [];
    this.#watchers = watchers.map((terms) => new Watcher(emulator, books, this.#truth, terms));
    this.#dwellers = dwellers.map((terms) => new Dweller(emulator, books, this.#truth, terms));
  }

  get clients(): readonly SimClient[] {
    return [...this.#dwellers, ...this.#watchers].map(({ client }) => client);
  }

  get hasBegun(): boolean {
    return this.#watchers.every(({ hasBegun }) => hasBegun) && this.#dwellers.every(({ isBusy }) => !isBusy);
  }

  /** A member or a watcher is reconnecting, or the room is not as it should be. */
  get isWaiting(): boolean {
    return (
      this.#dwellers.some(({ isBusy, client }) => isBusy || !client.mqtt.connected) ||
      this.#watchers.some(({ hasBegun, client }) => !hasBegun || !client.mqtt.connected) ||
      this.#watchers.some(({ ledger }) => ledger.differences.length > 0)
    );
  }

  get problems(): readonly Problem[] {
    return [...this.#problems, ...this.#watchers.flatMap(({ ledger }) => ledger.problems)];
  }

  get said(): number {
    return this.#said;
  }

  /** The member changes its data, or leaves with an empty payload. */
  say(index: number, isThere: boolean): void {
    this.#said += 1;
    this.#dwellers[index]?.say(isThere ? String(this.#said) : '');
  }

  endDweller(index: number, how: End, awayMs: number): void {
    const dweller = this.#dwellers[index];
    if (dweller?.client.mqtt.connected !== true) return;
    dweller.client.end(how === 'disconnect' && dweller.client.hasUnsent ? 'cut' : how);
    setTimeout(() => dweller.client.return(), awayMs + 1);
  }

  get isWatched(): boolean {
    return this.#dwellers.length > 0;
  }

  endWatcher(index: number, how: Exclude<End, 'disconnect'>): void {
    const client = this.#watchers[index]?.client;
    if (client?.mqtt.connected === true) client.end(how);
  }

  #isOpen(client: string): boolean {
    const id = this.#dwellers.find(({ terms }) => terms.name === client)?.client.connectionId;
    return id !== undefined && this.#emulator.connectionIds().includes(id);
  }

  /**
   * When faults have ended: a new member comes, then one member disconnects and one is lost. Last goes the first
   * client of a member that another client makes present as well.
   */
  farewell(): void {
    if (this.#dwellers.length === 0) return;
    this.#look();
    const newcomer = { name: 'room-newcomer', sessionExpirySeconds: 0 } as const;
    this.#watchers.push(new Watcher(this.#emulator, this.#books, this.#truth, newcomer));
    for (const { ledger } of this.#watchers) ledger.counts();
    setTimeout(() => {
      this.#look();
      const [leaver, loser] = [this.#dwellers[2], this.#dwellers[3]];
      // They have to be present before they can leave.
      for (const each of [leaver, loser])
        if (each !== undefined && this.#truth.members.has(each.terms.member))
          this.#leaving.push(each.terms.member);
      leaver?.client.end('disconnect');
      const lost = loser?.client.connectionId;
      loser?.client.stop();
      if (lost !== undefined) this.#emulator.cutConnection(lost);
    }, 10_000);
    setTimeout(() => this.#dwellers[0]?.client.end('disconnect'), TOLD_WITHIN_MS + 10_000);
  }

  readonly #leaving: string[] = [];

  /** Long after the grace period of members that have left. */
  farewellIsOver(): void {
    if (this.#dwellers.length === 0) return;
    for (const each of this.#dwellers.filter((_, index) => index === 0 || index === 2 || index === 3))
      this.#truth.ended(each.terms.name, each.terms.member);
    this.#look();
    for (const { ledger } of this.#watchers) this.#problems.push(...ledger.leavesOf(this.#leaving));
  }

  #look(): void {
    for (const { ledger } of this.#watchers) this.#problems.push(...ledger.differences);
  }
}
