/** Connections are closed until this share is free again, so that the limit is not reached with every chunk. */
const RELIEVED_SHARE = 7 / 8;

/**
 * Bytes of incomplete messages of all connections. Above the limit those that began first are closed: a client that
 * means to finish its message soon does [SEC-MEMORY-2].
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

  /** The connection holds this many bytes now; 0: its message is complete, or the connection is gone. */
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
