import { Encoder } from './encode.ts';
import type { Model } from './model.ts';
import { BEYOND_THE_MODEL, type State, type Successor } from './world.ts';

/** The result of an exploration. */
export interface Exploration {
  readonly states: number;
  readonly steps: number;
  readonly depth: number;
  /** Every state that can be reached was visited. */
  readonly isComplete: boolean;
  /** States that were not followed, as the model ends there. */
  readonly beyond: number;
  /** States from which nothing leads to the end without a further fault. */
  readonly stuck: number;
  /** The broken invariant, and the steps that lead there. Undefined: nothing. */
  readonly violation: string | undefined;
  readonly trace: readonly string[];
}

/** Visits every state, breadth first, so that a counterexample is as short as can be. */
export function explore(model: Model, statesMax: number): Exploration {
  return new Explorer(model, statesMax).run();
}

class Explorer {
  readonly #model: Model;
  readonly #statesMax: number;
  readonly #encoder: Encoder;
  readonly #seen = new Fingerprints();
  /** By state: the one that it was reached from, and which of its successors it is. */
  readonly #parents = new Numbers();
  readonly #places = new Numbers();
  readonly #ends: number[] = [];
  /** Steps that are no fault: from, to. */
  readonly #froms = new Numbers();
  readonly #tos = new Numbers();
  #steps = 0;
  #beyond = 0;
  #depth = 0;

  constructor(model: Model, statesMax: number) {
    this.#model = model;
    this.#statesMax = statesMax;
    this.#encoder = new Encoder(model.without('no-version'));
  }

  run(): Exploration {
    const start = this.#model.start();
    this.#number(start);
    this.#parents.push(-1);
    this.#places.push(0);
    let level: State[] = [start];
    let first = 0;
    while (level.length > 0) {
      if (this.#seen.size > this.#statesMax) return this.#result(false, undefined, []);
      const next: State[] = [];
      const firstOfNext = this.#seen.size;
      for (let place = 0; place < level.length; place += 1) {
        const violated = this.#expand(level[place] as State, first + place, next);
        if (violated !== undefined) return this.#result(false, ...violated);
      }
      level = next;
      first = firstOfNext;
      this.#depth += 1;
    }
    return this.#finished();
  }

  #expand(state: State, from: number, next: State[]): [string, string[]] | undefined {
    const successors = this.#model.successors(state);
    for (let place = 0; place < successors.length; place += 1) {
      const successor = successors[place] as Successor;
      this.#steps += 1;
      if (successor.state.violation === BEYOND_THE_MODEL) {
        this.#beyond += 1;
        continue;
      }
      const { number, isNew } = this.#number(successor.state);
      if (successor.kind !== 'fault') {
        this.#froms.push(from);
        this.#tos.push(number);
      }
      if (!isNew) continue;
      this.#parents.push(from);
      this.#places.push(place);
      const violation = this.#model.violationOf(successor.state);
      if (violation !== undefined) return [violation, this.#traceTo(number)];
      if (this.#model.isFinished(successor.state) || this.#model.isAtItsEnd(successor.state))
        this.#ends.push(number);
      next.push(successor.state);
    }
    return undefined;
  }

  #number(state: State): { number: number; isNew: boolean } {
    this.#encoder.encode(state);
    return this.#seen.add(this.#encoder.numbers, this.#encoder.length);
  }

  #finished(): Exploration {
    const reached = this.#leadToAnEnd();
    const stuck = reached.indexOf(0);
    if (stuck < 0) return this.#result(true, undefined, []);
    const why = 'from here nothing leads to the end without a further fault';
    return {
      ...this.#result(true, why, this.#traceTo(stuck)),
      stuck: reached.filter((each) => each === 0).length,
    };
  }

  /** By state: 1 where an end can be reached from it. */
  #leadToAnEnd(): Uint8Array {
    const size = this.#seen.size;
    const begins = new Int32Array(size + 1);
    for (let step = 0; step < this.#tos.length; step += 1)
      begins[this.#tos.at(step) + 1] = (begins[this.#tos.at(step) + 1] ?? 0) + 1;
    for (let number = 0; number < size; number += 1)
      begins[number + 1] = (begins[number + 1] ?? 0) + (begins[number] ?? 0);
    const into = new Int32Array(this.#tos.length);
    const filled = begins.slice();
    for (let step = 0; step < this.#tos.length; step += 1) {
      const to = this.#tos.at(step);
      const place = filled[to] ?? 0;
      into[place] = this.#froms.at(step);
      filled[to] = place + 1;
    }
    const reached = new Uint8Array(size);
    const open = [...this.#ends];
    for (const end of open) reached[end] = 1;
    for (let number = open.pop(); number !== undefined; number = open.pop())
      for (let place = begins[number] ?? 0; place < (begins[number + 1] ?? 0); place += 1) {
        const from = into[place] ?? 0;
        if (reached[from] === 1) continue;
        reached[from] = 1;
        open.push(from);
      }
    return reached;
  }

  /** Takes the same steps once more, this time with their names. */
  #traceTo(number: number): string[] {
    const places: number[] = [];
    for (let each = number; each > 0; each = this.#parents.at(each)) places.unshift(this.#places.at(each));
    const trace: string[] = [];
    let state = this.#model.start();
    for (const place of places) {
      const successor = this.#model.successors(state)[place] as Successor;
      trace.push(successor.label());
      state = successor.state;
    }
    return trace;
  }

  #result(isComplete: boolean, violation: string | undefined, trace: readonly string[]): Exploration {
    const found = { states: this.#seen.size, steps: this.#steps, depth: this.#depth, beyond: this.#beyond };
    return { ...found, isComplete, stuck: 0, violation, trace };
  }
}

/** A growing list of 32-bit numbers: a JavaScript array of millions takes several times the memory. */
class Numbers {
  #numbers = new Int32Array(1 << 16);
  length = 0;

  push(number: number): void {
    if (this.length === this.#numbers.length) {
      const larger = new Int32Array(this.#numbers.length * 2);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    this.#numbers[this.length] = number;
    this.length += 1;
  }

  at(place: number): number {
    return this.#numbers[place] ?? 0;
  }
}

/**
 * The states that were seen, by 64 bits of a hash: of a million states two share theirs once in 37 million explorations.
 * Open addressing, half full at most.
 */
class Fingerprints {
  #capacity = 1 << 16;
  #highs = new Int32Array(this.#capacity);
  #lows = new Int32Array(this.#capacity);
  /** Number of the state, from 1 on. 0: free. */
  #numbers = new Int32Array(this.#capacity);
  size = 0;

  add(numbers: Int32Array, length: number): { number: number; isNew: boolean } {
    if (this.size * 2 >= this.#capacity) this.#grow();
    let high = 0x1234_5678;
    let low = 0x0bad_cafe;
    for (let place = 0; place < length; place += 1) {
      const value = numbers[place] ?? 0;
      high = mixed(high ^ value, 0x85eb_ca6b);
      low = mixed(low + value + 0x9e37, 0xc2b2_ae35);
    }
    const slot = this.#find(high, low);
    const known = this.#numbers[slot] ?? 0;
    if (known !== 0) return { number: known - 1, isNew: false };
    this.size += 1;
    this.#set(slot, high, low, this.size);
    return { number: this.size - 1, isNew: true };
  }

  #find(high: number, low: number): number {
    const mask = this.#capacity - 1;
    let slot = (high ^ (low >>> 7)) & mask;
    while (this.#numbers[slot] !== 0 && (this.#highs[slot] !== high || this.#lows[slot] !== low))
      slot = (slot + 1) & mask;
    return slot;
  }

  #set(slot: number, high: number, low: number, number: number): void {
    this.#highs[slot] = high;
    this.#lows[slot] = low;
    this.#numbers[slot] = number;
  }

  #grow(): void {
    const [highs, lows, numbers] = [this.#highs, this.#lows, this.#numbers];
    this.#capacity *= 2;
    this.#highs = new Int32Array(this.#capacity);
    this.#lows = new Int32Array(this.#capacity);
    this.#numbers = new Int32Array(this.#capacity);
    for (let slot = 0; slot < numbers.length; slot += 1) {
      const number = numbers[slot] ?? 0;
      if (number === 0) continue;
      const [high, low] = [highs[slot] ?? 0, lows[slot] ?? 0];
      this.#set(this.#find(high, low), high, low, number);
    }
  }
}

function mixed(value: number, factor: number): number {
  const product = Math.imul(value, factor);
  return Math.imul(product ^ (product >>> 15), 0x2c1b_3c6d) ^ (product >>> 13);
}
