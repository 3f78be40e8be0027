/** The parts of Cloudflare's runtime that the door uses. */

export interface SqlCursor extends Iterable<Readonly<Record<string, unknown>>> {
  toArray(): Readonly<Record<string, unknown>>[];
  /** Rows as lists of values. */
  raw(): { toArray(): (readonly unknown[])[] };
}

export interface ObjectStorage {
  readonly sql: { exec(query: string, ...bindings: unknown[]): SqlCursor };
  transactionSync<T>(run: () => T): T;
  getAlarm(): Promise<number | null>;
  setAlarm(atMs: number): Promise<void>;
}

/** A server's WebSocket that lives on while its object sleeps. */
export interface ObjectSocket {
  /** 1: open. */
  readonly readyState: number;
  /** Bytes that the client has not read. Absent in older runtimes. */
  readonly bufferedAmount?: number;
  send(bytes: Uint8Array | string): void;
  close(code?: number, reason?: string): void;
  serializeAttachment(value: unknown): void;
  deserializeAttachment(): unknown;
}

export interface ObjectState {
  readonly storage: ObjectStorage;
  acceptWebSocket(socket: ObjectSocket): void;
  getWebSockets(): ObjectSocket[];
  blockConcurrencyWhile<T>(run: () => Promise<T>): Promise<T>;
  /** Ends the object at once: its memory and its sockets are gone, and nothing that waits for a write leaves. */
  abort(reason?: string): void;
}
