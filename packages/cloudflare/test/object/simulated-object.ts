import type { ObjectSocket, ObjectState, SqlCursor } from '../../src/index.ts';

type Row = readonly [key: string, value: Uint8Array];

/** An object in this process: rows, an alarm and sockets, as `Hub` uses them. Its alarm never rings by itself. */
export class SimulatedObject implements ObjectState {
  readonly rows = new Map<string, Uint8Array>();
  readonly sockets: SimulatedSocket[] = [];
  alarmAtMs: number | null = null;
  abortedBecause: string | undefined;
  rowsRead = 0;
  /** The storage refuses every commit. */
  isBroken = false;

  readonly storage = {
    sql: { exec: (query: string, ...bindings: unknown[]) => this.#exec(query, bindings) },
    transactionSync: <T>(run: () => T): T => {
      if (this.isBroken) throw new Error('the disk is full');
      return run();
    },
    getAlarm: async () => this.alarmAtMs,
    setAlarm: async (atMs: number) => {
      this.alarmAtMs = atMs;
    },
  };

  acceptWebSocket(socket: ObjectSocket): void {
    this.sockets.push(socket as SimulatedSocket);
  }

  getWebSockets(): SimulatedSocket[] {
    return this.sockets.filter(({ readyState }) => readyState === 1);
  }

  blockConcurrencyWhile<T>(run: () => Promise<T>): Promise<T> {
    return run();
  }

  abort(reason?: string): void {
    this.abortedBecause = reason;
  }

  #exec(query: string, [first, second, limit]: unknown[]): SqlCursor {
    const [from, to] = [String(first), String(second)];
    const isBetween = ([key]: Row) => (query.includes('k >= ?') ? key >= from : key > from) && key < to;
    if (query.startsWith('INSERT')) this.rows.set(from, Uint8Array.from(second as Uint8Array));
    if (query.endsWith('k = ?')) this.rows.delete(from);
    const found = query.includes('k < ?') ? [...this.rows].filter(isBetween) : [];
    if (query.startsWith('DELETE')) for (const [key] of found) this.rows.delete(key);
    found.sort(([one], [other]) => (one < other ? -1 : 1));
    const read = query.startsWith('SELECT') ? found.slice(0, Number(limit ?? found.length)) : [];
    this.rowsRead += read.length;
    const records = read.map(([k, v]) => ({ k, v: v.slice().buffer }));
    return Object.assign(records, { toArray: () => records });
  }
}

/** The server's end of a WebSocket, which keeps what it was sent. */
export class SimulatedSocket implements ObjectSocket {
  readonly sent: Uint8Array[] = [];
  readyState = 1;
  #attachment: unknown = null;

  send(bytes: Uint8Array): void {
    this.sent.push(bytes);
  }

  close(): void {
    this.readyState = 3;
  }

  serializeAttachment(value: unknown): void {
    this.#attachment = structuredClone(value);
  }

  deserializeAttachment(): unknown {
    return structuredClone(this.#attachment);
  }
}
