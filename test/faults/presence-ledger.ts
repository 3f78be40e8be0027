import type { Problem } from './ledger.ts';

/**
 * The longest delay of a leave: the life of a handler or a worker, and its repetition by the queue. A member that has
 * been present for longer has not left.
 */
export const TOLD_WITHIN_MS = 30_000;

/** A client that makes a member present, as the client itself knows it. */
interface Dweller {
  readonly member: string;
  isConnected: boolean;
  /** The data that the server has acknowledged on this connection; empty: the member has left. */
  data: string | undefined;
  /** The client has asked to leave, and has sent nothing since. */
  isLeaving: boolean;
  /** From then on the member cannot have left, as long as the gateway has the connection. Undefined: it may have. */
  thereSinceMs: number | undefined;
}

/** The facts that decide whether a member is present. */
export interface RoomWorld {
  /** Milliseconds. */
  nowMs(): number;
  /** The gateway has the client's connection. */
  isOpen(client: string): boolean;
}

/** The members of the room, as the clients themselves know them: the ledger asks the server nothing. */
export class RoomTruth {
  readonly #dwellers = new Map<string, Dweller>();
  readonly #hasLeft = new Set<string>();
  /** All data that was ever published, by member and client. */
  readonly #said = new Map<string, Map<string, Set<string>>>();
  readonly #world: RoomWorld;

  constructor(world: RoomWorld) {
    this.#world = world;
  }

  get nowMs(): number {
    return this.#world.nowMs();
  }

  connected(client: string, member: string): void {
    const unknown = { data: undefined, isLeaving: false, thereSinceMs: undefined };
    this.#dwellers.set(client, { member, isConnected: true, ...unknown });
  }

  /** The connection is lost, and the session may be resumed over another: the member may have left meanwhile. */
  lost(client: string): void {
    const dweller = this.#dwellers.get(client);
    if (dweller !== undefined) dweller.thereSinceMs = undefined;
  }

  /** Its session goes on over another connection. */
  resumed(client: string): void {
    const dweller = this.#dwellers.get(client);
    if (dweller?.isConnected && dweller.data && !dweller.isLeaving) dweller.thereSinceMs ??= this.nowMs;
  }

  /** A publication was acknowledged. */
  says(client: string, data: string): void {
    const dweller = this.#dwellers.get(client);
    if (dweller === undefined) return;
    dweller.data = data;
    if (data === '') this.#hasLeft.add(dweller.member);
    else dweller.thereSinceMs ??= this.nowMs;
  }

  /** Its connection is over, and its session does not go on over another. */
  ended(client: string, member: string): void {
    this.#hasLeft.add(member);
    const dweller = this.#dwellers.get(client);
    if (dweller === undefined) return;
    dweller.isConnected = false;
    dweller.thereSinceMs = undefined;
  }

  /** The client publishes: from now on the server may have the data, answered or not. */
  asks(client: string, member: string, data: string): void {
    const dweller = this.#dwellers.get(client);
    if (dweller !== undefined) dweller.isLeaving = data === '';
    if (data === '') {
      this.#hasLeft.add(member);
      this.lost(client);
    }
    const said = this.#said.get(member) ?? new Map<string, Set<string>>();
    this.#said.set(member, said.set(client, (said.get(client) ?? new Set()).add(data)));
  }

  /**
   * The data that a member may have. With several clients it is the last that any of them has published, even if that
   * one has gone.
   */
  get members(): ReadonlyMap<string, ReadonlySet<string>> {
    const members = new Map<string, Set<string>>();
    for (const { member, isConnected, data = '' } of this.#dwellers.values()) {
      if (!isConnected || data === '') continue;
      const said = [...(this.#said.get(member)?.values() ?? [])];
      members.set(member, new Set(said.length > 1 ? said.flatMap((each) => [...each]) : [data]));
    }
    return members;
  }

  /** A client has made the member present for the whole time for which a leave can be on its way. */
  isThereFor(member: string, ms: number): boolean {
    return [...this.#dwellers].some(
      ([client, { member: its, thereSinceMs }]) =>
        its === member &&
        thereSinceMs !== undefined &&
        thereSinceMs <= this.nowMs - ms &&
        this.#world.isOpen(client),
    );
  }

  /** It is possible that at some moment none of its clients was present. */
  mayHaveLeft(member: string): boolean {
    return this.#hasLeft.has(member);
  }
}

/** The messages that a watcher received, and the room that they describe. */
export class WatcherLedger {
  readonly #name: string;
  readonly #truth: RoomTruth;
  readonly #members = new Map<string, string>();
  /** Leaves told since the count began, by member. */
  readonly #leaves = new Map<string, number>();
  readonly #toldLeft = new Set<string>();
  /** Leaves that were reported although the member had been present for longer than a leave is on its way. */
  readonly #false = new Set<string>();
  /** Messages may have waited for the watcher until then. Undefined: it is not connected. */
  #listensSinceMs: number | undefined;
  #isCounting = false;

  constructor(name: string, truth: RoomTruth) {
    this.#name = name;
    this.#truth = truth;
  }

  /** The watcher is connected: waiting messages come first. */
  listens(): void {
    this.#listensSinceMs = this.#truth.nowMs;
  }

  /** The watcher is about to get the room anew. */
  forgets(): void {
    this.#members.clear();
  }

  told(member: string, data: string): void {
    if (data !== '') {
      this.#members.set(member, data);
      return;
    }
    this.#members.delete(member);
    if (this.#isCounting) this.#leaves.set(member, (this.#leaves.get(member) ?? 0) + 1);
    this.#toldLeft.add(member);
    const heardForMs = this.#truth.nowMs - (this.#listensSinceMs ?? this.#truth.nowMs);
    if (heardForMs >= TOLD_WITHIN_MS && this.#truth.isThereFor(member, TOLD_WITHIN_MS))
      this.#false.add(member);
  }

  /** At the end: a client may learn later than its watchers that its connection is over. */
  get problems(): readonly Problem[] {
    const never = [...this.#toldLeft].filter((member) => !this.#truth.mayHaveLeft(member));
    return [...new Set([...never, ...this.#false])].map((member) => ({
      what: `false leave: ${this.#name} was told that ${member} left, which was there`,
      about: this.#name,
    }));
  }

  /** From now on no fault strikes: each leave is told once. */
  counts(): void {
    this.#isCounting = true;
  }

  /** The room as it should be now. */
  get differences(): readonly Problem[] {
    const { members } = this.#truth;
    const problems: Problem[] = [];
    const add = (what: string) => problems.push({ what, about: this.#name });
    for (const [member, data] of this.#members) {
      const right = members.get(member);
      if (right === undefined) add(`ghost: ${this.#name} sees ${member}, which is not there`);
      else if (!right.has(data))
        add(`stale: ${this.#name} sees ${member} with ${data}, not ${[...right].join(' or ')}`);
    }
    for (const member of members.keys())
      if (!this.#members.has(member)) add(`absent: ${this.#name} does not see ${member}, which is there`);
    return problems;
  }

  /** Those that have left since the count began, each told once. */
  leavesOf(left: readonly string[]): readonly Problem[] {
    return left.flatMap((member) => {
      const count = this.#leaves.get(member) ?? 0;
      if (count === 1) return [];
      return [
        { what: `leave: ${this.#name} was told ${count} times that ${member} left`, about: this.#name },
      ];
    });
  }
}
