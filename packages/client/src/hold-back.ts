import { HELD_BYTES_MAX, HELD_PUSHES_MAX } from './limits.ts';

/** Pushes that wait, since they and the replies come from different places and may overtake each other (4). */
export class HoldBack {
  #pushes: Uint8Array<ArrayBuffer>[] = [];
  #bytes = 0;

  /** `false` when a limit is passed: the connection has to end. */
  hold(push: Uint8Array<ArrayBuffer>): boolean {
    this.#pushes.push(push);
    this.#bytes += push.length;
    return this.#pushes.length <= HELD_PUSHES_MAX && this.#bytes <= HELD_BYTES_MAX;
  }

  release(): Uint8Array<ArrayBuffer>[] {
    const pushes = this.#pushes;
    this.#pushes = [];
    this.#bytes = 0;
    return pushes;
  }
}
