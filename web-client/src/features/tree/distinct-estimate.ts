/** 128 KiB: within one percent up to some hundred thousand, and within a few percent up to five million. */
const BITS = 1 << 20;

/**
 * About how many different strings there were, without keeping them: linear counting (Whang, Vander-Zanden and Taylor,
 * 1990). Each string sets a bit; how many are still clear tells how many strings there were.
 */
export class DistinctEstimate {
  #bits = new Uint32Array(0);
  #set = 0;

  add(text: string): void {
    if (this.#bits.length === 0) this.#bits = new Uint32Array(BITS / 32);
    const bit = hashOf(text) % BITS;
    const word = bit >>> 5;
    const mask = 1 << (bit & 31);
    const before = this.#bits[word] ?? 0;
    if ((before & mask) !== 0) return;
    this.#bits[word] = before | mask;
    this.#set += 1;
  }

  /** Exact while there are few. */
  get count(): number {
    const clear = Math.max(1, BITS - this.#set);
    return Math.round(BITS * Math.log(BITS / clear));
  }

  clear(): void {
    this.#bits = new Uint32Array(0);
    this.#set = 0;
  }
}

/** FNV-1a over UTF-16 code units, with the mixing of MurmurHash3 at its end. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
