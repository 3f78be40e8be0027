import type { Writer } from './writer.ts';

/**
 * Sessions that have ended in memory, and perhaps not on the disk. The end of a session promises nothing, but a
 * CONNACK without a session does:
 *
 *     DISCONNECT, expiry 0   memory: the session is gone, the disk still has it
 *     CONNECT, expiry 0      nothing to write → waits for that end: a crash after CONNACK would bring the session back
 */
export class SessionEnds {
  readonly #writer: Writer;
  /** The position of the writer by session key, in ascending order. */
  readonly #positions = new Map<string, number>();

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  /** Its removal has just been written. */
  add(key: string): void {
    this.#forgetDurable();
    // Set anew, so that it stands at the end.
    this.#positions.delete(key);
    this.#positions.set(key, this.#writer.position);
  }

  isDurable(key: string): boolean {
    return this.#writer.isDurable(this.#positions.get(key) ?? 0);
  }

  /** Forgets the ends that are durable: the others wait for the disk. */
  #forgetDurable(): void {
    for (const [key, position] of this.#positions) {
      if (!this.#writer.isDurable(position)) return;
      this.#positions.delete(key);
    }
  }
}
