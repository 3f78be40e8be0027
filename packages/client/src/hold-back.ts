import { HELD_BYTES_MAX, HELD_PUSHES_MAX } from './limits.ts';

/** Pushes that wait, as bytes or text. Pushes and replies travel different ways and may overtake each other (4). */
export class HoldBack<Push extends { readonly length: number }> {
  #pushes: Push[] = [];
  #bytes = 0;

  /** `false` when a limit is passed: the connection has to end. */
  hold(push: Push): boolean {
    this.#pushes.push(push);
    this.#bytes += push.length;
    return this.#pushes.length <= HELD_PUSHES_MAX && this.#bytes <= HELD_BYTES_MAX;
  }

  release(): Push[] {
    const pushes = this.#pushes;
    this.#pushes = [];
    this.#bytes = 0;
    return pushes;
  }
}
