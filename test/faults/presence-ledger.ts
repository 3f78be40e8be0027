import type { Problem } from './ledger.ts';

/** A client that makes a member present, as it knows itself. */
interface Dweller {
  readonly member: string;
  isConnected: boolean;
  /** The data that the server has acknowledged on this connection; empty: it has left. */
  data: string | undefined;
}

/** Who is in the room, as the clients themselves know it: nothing here is asked of the server. */
export class RoomTruth {
  readonly #dwellers = new Map<string, Dweller>();
  readonly #hasLeft = new Set<string>();
  /** All that was ever said, by member and client. */
  readonly #said = new Map<string, Map<string, Set<string>>>();

  connected(client: string, member: string): void {
    this.#dwellers.set(client, { member, isConnected: true, data: undefined });
  }

  /** A publication was acknowledged. */
  says(client: string, data: string): void {
    const dweller = this.#dwellers.get(client);
    if (dweller === undefined) return;
    dweller.data = data;
    if (data === '') this.#hasLeft.add(dweller.member);
  }

  /** Its connection is over, and its session does not go on over another. */
  ended(client: string, member: string): void {
    this.#hasLeft.add(member);
    const dweller = this.#dwellers.get(client);
    if (dweller !== undefined) dweller.isConnected = false;
  }

  /** It publishes: from now on the server may have it, answered or not. */
  asks(client: string, member: string, data: string): void {
    if (data === '') this.#hasLeft.add(member);
    const said = this.#said.get(member) ?? new Map<string, Set<string>>();
    this.#said.set(member, said.set(client, (said.get(client) ?? new Set()).add(data)));
  }

  /** Its end has begun, and it may learn of that later than its watchers. */
  mayLeave(member: string): void {
    this.#hasLeft.add(member);
  }

  /**
   * The data that a member may have, by member. Those of several clients are what any of them said last, also when it has
   * gone: they may be anything that one has said.
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

  /** A moment at which none of its clients was there cannot be ruled out. */
  mayHaveLeft(member: string): boolean {
    return this.#hasLeft.has(member);
  }
}

/** What a watcher was told, and what it takes for the room. */
export class WatcherLedger {
  readonly #name: string;
  readonly #truth: RoomTruth;
  readonly #members = new Map<string, string>();
  /** Leaves told since the count began, by member. */
  readonly #leaves = new Map<string, number>();
  readonly #toldLeft = new Set<string>();
  #isCounting = false;

  constructor(name: string, truth: RoomTruth) {
    this.#name = name;
    this.#truth = truth;
  }

  /** It is about to be given the room anew. */
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
  }

  /** In the end: a client may learn later than its watchers that its connection is over. */
  get problems(): readonly Problem[] {
    const wrong = [...this.#toldLeft].filter((member) => !this.#truth.mayHaveLeft(member));
    return wrong.map((member) => ({
      what: `false leave: ${this.#name} was told that ${member} left, which was there all the time`,
      about: this.#name,
    }));
  }

  /** From now on no fault strikes: each leave is told once. */
  counts(): void {
    this.#isCounting = true;
  }

  /** The room as it should be by now. */
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
