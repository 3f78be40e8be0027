import { QUESTION_BYTES_MAX, QUESTION_BYTES_MIN, QUESTION_SHARE_OF_FREE } from './limits.ts';

/** Bytes of the messages that wait for the answers of a hook: the less is free, the less each holder may have [SEC-HOOK-6]. */
export class QuestionBytes {
  readonly #held = new Map<string, number>();
  #all = 0;

  /** False: it is more than the holder's share. `give` gives it back. */
  take(holder: string, bytes: number): boolean {
    const held = (this.#held.get(holder) ?? 0) + bytes;
    const share = (QUESTION_BYTES_MAX - this.#all) * QUESTION_SHARE_OF_FREE;
    if (held > Math.max(QUESTION_BYTES_MIN, share)) return false;
    this.#set(holder, held);
    return true;
  }

  give(holder: string, bytes: number): void {
    this.#set(holder, (this.#held.get(holder) ?? 0) - bytes);
  }

  #set(holder: string, held: number): void {
    this.#all += held - (this.#held.get(holder) ?? 0);
    if (held > 0) this.#held.set(holder, held);
    else this.#held.delete(holder);
  }
}
