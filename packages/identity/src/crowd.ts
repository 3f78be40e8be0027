/**
 * Members of a shared pool by their holder, such as the address of a client. It finds the holder with most members, and
 * the oldest member of a holder, in constant time: a full pool takes from the one that has most.
 */
export class Crowd<T> {
  readonly #groupOf = new Map<T, Group<T>>();
  /** By their holder, in the order of turns. */
  readonly #groups = new Map<string, Group<T>>();
  readonly #bySize: Set<Group<T>>[] = [];
  #most = 0;

  get size(): number {
    return this.#groupOf.size;
  }

  /** Most members of one holder. */
  get most(): number {
    return this.#most;
  }

  count(holder: string): number {
    return this.#groups.get(holder)?.members.size ?? 0;
  }

  holderOf(member: T): string | undefined {
    return this.#groupOf.get(member)?.holder;
  }

  /** A member that is there already moves to this holder. */
  add(member: T, holder: string): void {
    this.delete(member);
    let group = this.#groups.get(holder);
    if (group === undefined) {
      group = { holder, members: new Set() };
      this.#groups.set(holder, group);
    }
    group.members.add(member);
    this.#groupOf.set(member, group);
    this.#resized(group, group.members.size - 1);
  }

  /** False: it was not there. */
  delete(member: T): boolean {
    const group = this.#groupOf.get(member);
    if (group === undefined) return false;
    this.#groupOf.delete(member);
    group.members.delete(member);
    if (group.members.size === 0) this.#groups.delete(group.holder);
    this.#resized(group, group.members.size + 1);
    return true;
  }

  /** @param holder @default the holder with most members */
  oldest(holder?: string): T | undefined {
    const group = holder === undefined ? first(this.#bySize[this.#most]) : this.#groups.get(holder);
    return first(group?.members);
  }

  /** Takes the oldest member of the next holder that is `ready`; then it is the turn of all others. */
  takeTurn(isReady: (holder: string) => boolean): readonly [T, string] | undefined {
    for (const [holder, group] of this.#groups) {
      if (!isReady(holder)) continue;
      const member = first(group.members) as T;
      this.delete(member);
      if (this.#groups.delete(holder)) this.#groups.set(holder, group);
      return [member, holder];
    }
    return undefined;
  }

  #resized(group: Group<T>, before: number): void {
    const { size } = group.members;
    if (before > 0) this.#bySize[before]?.delete(group);
    if (size > 0) {
      this.#bySize[size] ??= new Set();
      this.#bySize[size].add(group);
    }
    if (size > this.#most) this.#most = size;
    else while (this.#most > 0 && this.#bySize[this.#most]?.size === 0) this.#most -= 1;
  }
}

/** The members of one holder; the oldest first. */
interface Group<T> {
  readonly holder: string;
  readonly members: Set<T>;
}

function first<T>(values: Iterable<T> | undefined): T | undefined {
  for (const value of values ?? []) return value;
  return undefined;
}
