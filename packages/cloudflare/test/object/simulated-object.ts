import type { ObjectSocket, ObjectState, SqlCursor } from '../../src/index.ts';

type Row = readonly [key: string, value: Uint8Array];

/** What storage says to an object that another has replaced. */
export const STALE = 'the object is not current any more';

/** As Cloudflare says; `workerd` takes larger rows. */
const ROW_BYTES_MAX = 2_000_000;

/** Writes that become durable together, and what may leave then. */
interface Commit {
  readonly changes: Map<string, Uint8Array | undefined>;
  alarmAtMs?: number | null;
  readonly leaving: (() => void)[];
}

/** What the disk has. */
interface Durable {
  readonly rows: Map<string, Uint8Array>;
  alarmAtMs: number | null;
}

/** An object in this process: rows, an alarm and sockets, as `Hub` uses them. Its alarm never rings by itself. */
export class SimulatedObject implements ObjectState {
  readonly rows: Map<string, Uint8Array>;
  readonly sockets: SimulatedSocket[] = [];
  alarmAtMs: number | null;
  abortedBecause: string | undefined;
  rowsRead = 0;
  /** The storage refuses every commit. */
  isBroken = false;
  /** Another object has taken its place: its storage answers nothing any more. */
  isStale = false;
  readonly #durable: Durable;
  readonly #isGated: boolean;
  #commits: Commit[] = [];
  #open: Commit | undefined;

  readonly storage = {
    sql: { exec: (query: string, ...bindings: unknown[]) => this.#exec(query, bindings) },
    transactionSync: <T>(run: () => T): T => {
      if (this.isBroken) throw new Error('the disk is full');
      return run();
    },
    getAlarm: async () => this.alarmAtMs,
    setAlarm: async (atMs: number | null) => {
      if (this.isStale) return;
      this.alarmAtMs = atMs;
      this.#write().alarmAtMs = atMs;
    },
  };

  /** @param isGated a commit is durable when `confirm` says so, and frames wait for it. @default at once */
  constructor(isGated = false, durable: Durable = { rows: new Map(), alarmAtMs: null }) {
    this.#isGated = isGated;
    this.#durable = durable;
    this.rows = new Map(durable.rows);
    this.alarmAtMs = durable.alarmAtMs;
  }

  acceptWebSocket(socket: ObjectSocket): void {
    const accepted = socket as SimulatedSocket;
    accepted.leave = (frame) => this.#leave(frame);
    this.sockets.push(accepted);
  }

  getWebSockets(): SimulatedSocket[] {
    return this.sockets.filter(({ readyState }) => readyState < CLOSED);
  }

  blockConcurrencyWhile<T>(run: () => Promise<T>): Promise<T> {
    return run();
  }

  abort(reason?: string): void {
    this.abortedBecause = reason;
    this.#drop();
  }

  /** A commit is under way. */
  get isBusy(): boolean {
    return this.#commits.length > 0;
  }

  /** The event is over: what it has written is one commit. */
  endEvent(): void {
    if (this.#open !== undefined) this.#commits.push(this.#open);
    this.#open = undefined;
  }

  /** The oldest commit is durable. */
  confirm(): void {
    const commit = this.#commits.shift();
    if (commit === undefined) throw new Error('nothing is to be written');
    this.#apply(commit);
    for (const leave of commit.leaving) leave();
  }

  /** The object in its place, after a reset. What is under way is durable, or lost; nothing of it has left. */
  next(isDurable: boolean): SimulatedObject {
    if (isDurable) for (const commit of this.#commits) this.#apply(commit);
    this.#drop();
    this.isStale = true;
    return new SimulatedObject(this.#isGated, this.#durable);
  }

  #drop(): void {
    this.#commits = [];
    this.#open = undefined;
  }

  #apply({ changes, alarmAtMs }: Commit): void {
    const { rows } = this.#durable;
    for (const [key, value] of changes) {
      if (value === undefined) rows.delete(key);
      else rows.set(key, value);
    }
    if (alarmAtMs !== undefined) this.#durable.alarmAtMs = alarmAtMs;
  }

  #leave(frame: () => void): void {
    if (this.abortedBecause !== undefined) return;
    const last = this.#open ?? this.#commits.at(-1);
    if (last === undefined) frame();
    else last.leaving.push(frame);
  }

  #write(): Commit {
    if (!this.#isGated) return { changes: new Map(), leaving: [] };
    this.#open ??= { changes: new Map(), leaving: [] };
    return this.#open;
  }

  #set(key: string, value: Uint8Array | undefined): void {
    if (value === undefined) this.rows.delete(key);
    else this.rows.set(key, value);
    this.#write().changes.set(key, value);
  }

  #exec(query: string, [first, second, limit]: unknown[]): SqlCursor {
    if (this.isStale) throw new Error(STALE);
    const [from, to] = [String(first), String(second)];
    const isBetween = ([key]: Row) => (query.includes('k >= ?') ? key >= from : key > from) && key < to;
    if (query.startsWith('INSERT') && (second as Uint8Array).length + from.length > ROW_BYTES_MAX)
      throw new Error('string or blob too big');
    if (query.startsWith('INSERT')) this.#set(from, Uint8Array.from(second as Uint8Array));
    if (query.endsWith('k = ?')) this.#set(from, undefined);
    const found = query.includes('k < ?') ? [...this.rows].filter(isBetween) : [];
    if (query.startsWith('DELETE')) for (const [key] of found) this.#set(key, undefined);
    found.sort(([one], [other]) => (one < other ? -1 : 1));
    const read = query.startsWith('SELECT') ? found.slice(0, Number(limit ?? found.length)) : [];
    this.rowsRead += read.length;
    const records = read.map(([k, v]) => ({ k, v: v.slice().buffer }));
    const raw = records.map(({ k, v }) => [k, v]);
    return Object.assign(records, { toArray: () => records, raw: () => ({ toArray: () => raw }) });
  }
}

/** `WebSocket.readyState`. */
const [CLOSING, CLOSED] = [2, 3];

/** The server's end of a WebSocket, which keeps what it was sent. */
export class SimulatedSocket implements ObjectSocket {
  readonly sent: Uint8Array[] = [];
  readyState = 1;
  bufferedAmount = 0;
  closedWith: number | undefined;
  /** Called with each frame, and with the close: it calls back when they may leave. */
  leave: (frame: () => void) => void = (frame) => frame();
  #attachment: unknown = null;

  send(bytes: Uint8Array): void {
    const frame = Uint8Array.from(bytes);
    this.leave(() => this.sent.push(frame));
  }

  close(code?: number): void {
    this.readyState = CLOSING;
    this.leave(() => {
      this.closedWith = code;
      this.readyState = CLOSED;
    });
  }

  serializeAttachment(value: unknown): void {
    this.#attachment = structuredClone(value);
  }

  deserializeAttachment(): unknown {
    return structuredClone(this.#attachment);
  }
}
