import { VALUE_BYTES_MAX } from './limits.ts';

const SLOTS_PER_BLOCK = 4_096;

/**
 * The first bytes of each topic's last value. They are in a few large blocks: a hundred thousand small arrays would
 * need more memory for objects than for bytes, and each message would create garbage.
 */
export class ValueSlab {
  readonly #blocks: Uint8Array[] = [];
  #slots = 0;

  get byteLength(): number {
    return this.#blocks.length * SLOTS_PER_BLOCK * VALUE_BYTES_MAX;
  }

  /** @returns the number of a free slot */
  allocate(): number {
    const slot = this.#slots;
    if (slot % SLOTS_PER_BLOCK === 0) this.#blocks.push(new Uint8Array(SLOTS_PER_BLOCK * VALUE_BYTES_MAX));
    this.#slots += 1;
    return slot;
  }

  write(slot: number, value: Uint8Array): void {
    const kept = value.length > VALUE_BYTES_MAX ? value.subarray(0, VALUE_BYTES_MAX) : value;
    this.#blockOf(slot).set(kept, offsetOf(slot));
  }

  /** A copy, which later messages do not change. */
  read(slot: number, length: number): Uint8Array {
    const offset = offsetOf(slot);
    return this.#blockOf(slot).slice(offset, offset + Math.min(length, VALUE_BYTES_MAX));
  }

  clear(): void {
    this.#blocks.length = 0;
    this.#slots = 0;
  }

  #blockOf(slot: number): Uint8Array {
    const block = this.#blocks[Math.floor(slot / SLOTS_PER_BLOCK)];
    if (block === undefined) throw new RangeError(`slot ${slot} was never allocated`);
    return block;
  }
}

function offsetOf(slot: number): number {
  return (slot % SLOTS_PER_BLOCK) * VALUE_BYTES_MAX;
}
