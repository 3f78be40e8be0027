/** Remembered names; the one that was used longest ago is dropped first. A users file has far fewer. */
const NAMES_MAX = 10_000;

/** Remembered addresses of one name: home, work, a phone. Clients with another password cannot replace them. */
const ADDRESSES_PER_NAME_MAX = 8;

/** The addresses from which a name has logged in successfully, since the process started. */
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
