/**
 * Members of a shared pool by their holder, such as the address of a client. It finds the holder with most members, and
 * the oldest member of a holder, in constant time: a full pool takes from the one that has most.
 */
export class Crowd<T> {
  readonly #holderOf = new Map<T, string>();
  /** In the order of turns; of each holder the oldest member first. */
  readonly #members = new Map<string, Set<T>>();
  /** Holders by their number of members. */
  readonly #bySize: Set<string>[] = [];
  #most = 0;

  get size(): number {
    return this.#holderOf.size;
  }

  /** Most members of one holder. */
  get most(): number {
    return this.#most;
  }

  count(holder: string): number {
    return this.#members.get(holder)?.size ?? 0;
  }

  holderOf(member: T): string | undefined {
    return this.#holderOf.get(member);
  }

  /** A member that is there already moves to this holder. */
  add(member: T, holder: string): void {
    this.delete(member);
    const members = this.#members.get(holder) ?? new Set();
    this.#members.set(holder, members.add(member));
    this.#holderOf.set(member, holder);
    this.#resized(holder, members.size - 1, members.size);
  }

  /** False: it was not there. */
  delete(member: T): boolean {
    const holder = this.#holderOf.get(member);
    if (holder === undefined) return false;
    this.#holderOf.delete(member);
    const members = this.#members.get(holder) as Set<T>;
    members.delete(member);
    if (members.size === 0) this.#members.delete(holder);
    this.#resized(holder, members.size + 1, members.size);
    return true;
  }

  /** @param holder @default the holder with most members */
  oldest(holder = first(this.#bySize[this.#most])): T | undefined {
    return holder === undefined ? undefined : first(this.#members.get(holder));
  }

  /** Takes the oldest member of the next holder that is `ready`; then it is the turn of all others. */
  takeTurn(isReady: (holder: string) => boolean): readonly [T, string] | undefined {
    for (const [holder, members] of this.#members) {
      if (!isReady(holder)) continue;
      const member = first(members) as T;
      this.delete(member);
      if (members.size > 0) {
        this.#members.delete(holder);
        this.#members.set(holder, members);
      }
      return [member, holder];
    }
    return undefined;
  }

  #resized(holder: string, before: number, after: number): void {
    this.#bySize[before]?.delete(holder);
    if (after > 0) this.#bySize[after] = (this.#bySize[after] ?? new Set()).add(holder);
    if (after > this.#most) this.#most = after;
    while (this.#most > 0 && this.#bySize[this.#most]?.size === 0) this.#most -= 1;
  }
}

function first<T>(values: Iterable<T> | undefined): T | undefined {
  for (const value of values ?? []) return value;
  return undefined;
}
