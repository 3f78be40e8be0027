import unsafe from 'workerd:unsafe';
import { admit, HubObject, type ObjectSocket, type ObjectState, type SqlCursor } from '@apus/cloudflare';
import { NOTHING_COUNTED, type ObjectCounts } from './counts.ts';
import { VirtualTime } from './virtual-time.ts';

interface Stub {
  fetch(request: Request | string): Promise<Response>;
}

interface Environment {
  readonly HUB: { idFromName(name: string): unknown; get(id: unknown): Stub };
}

type Counts = { -readonly [K in keyof ObjectCounts]: ObjectCounts[K] };

/** Of one object at a time: the bench uses one after another. They outlive the memory of the object. */
const time = new VirtualTime();
const counts: Counts = { ...NOTHING_COUNTED };
let cursors: SqlCursor[] = [];
/** By the object: when its alarm goes off. */
const alarms = new Map<string, number>();

time.install();
countFrames();

function countFrames(): void {
  const { prototype } = WebSocket as unknown as { prototype: { send(bytes: Uint8Array): void } };
  const { send } = prototype;
  prototype.send = function (bytes) {
    counts.framesOut += 1;
    send.call(this, bytes);
  };
}

type IdentifiedState = ObjectState & { readonly id: { toString(): string } };

/** The runtime's object, with an alarm of the bench's own. */
function counting(state: IdentifiedState): ObjectState {
  const { storage } = state;
  const exec = (query: string, ...bindings: unknown[]) => {
    const cursor = storage.sql.exec(query, ...bindings);
    cursors.push(cursor);
    return cursor;
  };
  return {
    storage: {
      sql: { exec },
      transactionSync: (run) => {
        counts.commits += 1;
        return storage.transactionSync(run);
      },
      getAlarm: async () => alarms.get(String(state.id)) ?? null,
      setAlarm: async (atMs) => {
        counts.alarmsSet += 1;
        alarms.set(String(state.id), atMs);
      },
    },
    acceptWebSocket: (socket) => state.acceptWebSocket(socket),
    getWebSockets: () => state.getWebSockets(),
    blockConcurrencyWhile: (run) => state.blockConcurrencyWhile(run),
    abort: (reason) => state.abort(reason),
  };
}

/** Rows are known when a cursor has been read. */
function takeRows(): void {
  for (const { rowsRead, rowsWritten } of cursors as (SqlCursor & Record<string, number>)[]) {
    counts.rowsRead += rowsRead ?? 0;
    counts.rowsWritten += rowsWritten ?? 0;
  }
  cursors = [];
}

/** A hub that counts what the platform bills. */
export class CountingHub extends HubObject {
  readonly #id: string;

  constructor(state: IdentifiedState) {
    super(counting(state), () => ({ streams: [{ name: 'bench', topicFilter: 'stream/#' }] }));
    this.#id = String(state.id);
  }

  override async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const [, , what] = pathname.split('/');
    if (what === 'mqtt') {
      counts.requests += 1;
      // Cloudflare's network says where a client is.
      const headers = [...request.headers, ['cf-connecting-ip', '127.0.0.1']] as [string, string][];
      await this.prepare();
      const peer = await admit(new Request(request, { headers }), this.hub.handshake);
      return peer instanceof Response ? peer : this.connect(request, peer);
    }
    if (what === 'pass') await this.#pass(Number(searchParams.get('ms')));
    if (what === 'rest') await this.#rest();
    takeRows();
    const answer = Response.json({ ...counts, awakeMs: time.awakeMs });
    if (what === 'reset') {
      Object.assign(counts, NOTHING_COUNTED);
      time.awakeMs = 0;
    }
    return answer;
  }

  override webSocketMessage(socket: ObjectSocket, data: ArrayBuffer | string): Promise<void> | undefined {
    counts.messages += 1;
    return super.webSocketMessage(socket, data);
  }

  override webSocketClose(socket: ObjectSocket, code: number, reason: string): Promise<void> | undefined {
    counts.closes += 1;
    return super.webSocketClose(socket, code, reason);
  }

  async #pass(ms: number): Promise<void> {
    for (let leftMs = ms; leftMs > 0; ) {
      const alarmAtMs = alarms.get(this.#id) ?? Number.POSITIVE_INFINITY;
      leftMs = time.step(leftMs, alarmAtMs);
      if (alarmAtMs <= time.nowMs) this.#ring();
      await new Promise(setImmediate);
    }
  }

  /** Until no timer keeps the object awake. */
  async #rest(): Promise<void> {
    while (time.hasTimers) {
      time.step(Number.POSITIVE_INFINITY);
      await new Promise(setImmediate);
    }
  }

  #ring(): void {
    counts.alarms += 1;
    alarms.delete(this.#id);
    this.alarm();
  }
}

// biome-ignore lint/style/noDefaultExport: the runtime asks for it
export default {
  async fetch(request: Request, { HUB }: Environment): Promise<Response> {
    const [, name = '', what] = new URL(request.url).pathname.split('/');
    const stub = HUB.get(HUB.idFromName(name));
    if (what !== 'evict') return await stub.fetch(request);
    // An object that sleeps cannot be evicted.
    await (await stub.fetch(`http://hub/${name}/awake`)).text();
    await unsafe.evict(stub, { webSockets: 'hibernate' });
    return new Response('ok');
  },
};
