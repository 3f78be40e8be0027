/** Connections are ended until so much is free again: not one with every chunk that comes. */
const RELIEVED_SHARE = 7 / 8;

/**
 * Bytes of all connections of messages whose end has not come. Beyond the limit those end that
 * began first: a client that means to end its message is soon done [SEC-MEMORY-2].
 */
export class UnfinishedMessages<Connection> {
  readonly #bytesMax: number;
  readonly #end: (connection: Connection) => void;
  /** In the order in which their messages began. */
  readonly #held = new Map<Connection, number>();
  #bytes = 0;

  constructor(bytesMax: number, end: (connection: Connection) => void) {
    this.#bytesMax = bytesMax;
    this.#end = end;
  }

  /** The connection holds this many bytes now; 0: its message is whole, or the connection is gone. */
  set(connection: Connection, bytes: number): void {
    this.#bytes += bytes - (this.#held.get(connection) ?? 0);
    if (bytes === 0) this.#held.delete(connection);
    else this.#held.set(connection, bytes);
    if (this.#bytes > this.#bytesMax) this.#relieve();
  }

  #relieve(): void {
    for (const connection of this.#held.keys()) {
      if (this.#bytes <= this.#bytesMax * RELIEVED_SHARE) return;
      this.set(connection, 0);
      this.#end(connection);
    }
  }
}
