import type { Writer } from './writer.ts';

/**
 * Sessions that have ended, as long as the disk may not know it. The end of a session promises nothing, but a CONNACK
 * that says that there is none does:
 *
 *     DISCONNECT, expiry 0   memory: the session is gone, the disk still has it
 *     CONNECT, expiry 0      nothing to write → waits for that end: a crash after CONNACK would bring the session back
 */
export class SessionEnds {
  readonly #writer: Writer;
  /** By session key, in the order of the positions at which the writer stood. */
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

  /** Ends that are durable need not be remembered: only those that wait for the disk are left. */
  #forgetDurable(): void {
    for (const [key, position] of this.#positions) {
      if (!this.#writer.isDurable(position)) return;
      this.#positions.delete(key);
    }
  }
}
