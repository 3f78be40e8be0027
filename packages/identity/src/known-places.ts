/** Names that are remembered; the one that was used longest ago goes first. Far more than a users file has. */
const NAMES_MAX = 10_000;

/** Addresses of one name: home, work, a phone's. One with a password of their own cannot push out others' addresses. */
const ADDRESSES_PER_NAME_MAX = 8;

/** From where a name has logged in rightly, since the process started. */
export class KnownPlaces {
  readonly #addresses = new Map<string, Set<string>>();

  has(name: string, address: string): boolean {
    return this.#addresses.get(name)?.has(address) ?? false;
  }

  add(name: string, address: string): void {
    const addresses = this.#addresses.get(name) ?? new Set();
    renew(addresses, address, ADDRESSES_PER_NAME_MAX);
    this.#addresses.delete(name);
    this.#addresses.set(name, addresses);
    if (this.#addresses.size > NAMES_MAX) dropFirst(this.#addresses);
  }
}

function renew(set: Set<string>, value: string, sizeMax: number): void {
  set.delete(value);
  set.add(value);
  if (set.size > sizeMax) dropFirst(set);
}

function dropFirst(collection: Map<string, unknown> | Set<string>): void {
  for (const key of collection.keys()) {
    collection.delete(key);
    return;
  }
}
