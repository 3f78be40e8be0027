import {
  type AppendOptions,
  type Message,
  type MessageOrigin,
  messageBytes,
  Page,
  type PageLimit,
  pageOf,
  type StreamAppended,
  type StreamDeclaration,
  type StreamEntry,
  type StreamFigures,
  type StreamSince,
  type StreamStore,
  type StreamTail,
  type StreamTopicTail,
  steadyNow,
} from '@apus/broker';
import { matches } from '@apus/mqtt';
import {
  RETRY_MS_MAX,
  STREAM_APPENDS_TRIED_MAX,
  STREAM_LANES,
  STREAM_REPEATED_MS,
  STREAM_REPEATED_READ_MAX,
  STREAM_TOPICS_LOOKED_AT,
  STREAM_UNSTABLE_MAX,
} from '../limits.ts';
import { streamRootKey, streamTileKey, streamTopicPrefix, streamTopicsPartition } from '../table/keys.ts';
import { endOf, type Table } from '../table/table.ts';
import { number, text, textOf } from '../table/values.ts';
import {
  epochOf,
  keptMs,
  LOG_LENGTH,
  type LogHead,
  lastOf,
  readHead,
  tailOf,
  ttlSeconds,
} from './log-head.ts';
import { headOf, isOver, openLog, type StreamTopic } from './open-log.ts';
import { entryOf, isOf, itemOf, placeUpTo, stableAt, type Tile, tileAfter, tileOf } from './tile.ts';
import { isValue, keepValue, readValues } from './values.ts';

/**
 * Logs of topics in DynamoDB, in a table that no scan reads. Each message is a tile, whose key is its number: an
 * append reads the end of the log, and puts its tile after it if that place is free. Number and message are one write,
 * so there are no holes, and no item that every publisher writes.
 *
 * A handler may have appended its message and died before it sent it. So a repetition of a message with an origin keeps
 * its place and is sent again, as long as no position says that the message is stable. Any other is appended once more.
 */
export class DynamoStreams implements StreamStore {
  readonly #table: Table;
  readonly #ends: Map<string, LogHead> | undefined;

  /**
   * @param ends of the logs to which the messages of one event were appended: the next message tries the place after
   *   its end without a read. If the log has changed since, that place is taken and the write fails. @default each
   *   append reads
   */
  constructor(table: Table, ends?: Map<string, LogHead>) {
    this.#table = table;
    this.#ends = ends;
  }

  async append(
    tenant: string,
    stream: StreamDeclaration,
    message: Message,
    options: AppendOptions,
  ): Promise<StreamAppended | 'full' | 'contended'> {
    const { clock, randomId } = this.#table.settings;
    const untilMs = steadyNow(clock) + RETRY_MS_MAX;
    const of = { tenant, stream, topic: message.topic, holder: options.holder };
    const nonce = randomId();
    const name = `${tenant}\0${message.topic}`;
    let head = this.#ends?.get(name);
    this.#ends?.delete(name);
    for (let tries = 0; tries < STREAM_APPENDS_TRIED_MAX && steadyNow(clock) < untilMs; tries += 1) {
      if (head === undefined) {
        const opened = await openLog(this.#table, of, options.nowMs, options.isForced);
        if (typeof opened === 'string') return opened;
        head = opened;
      }
      const repeated = options.origin && (await this.#repeated(of, head, options.origin, options.nowMs));
      if (repeated !== undefined) {
        this.#ends?.set(name, head);
        if (stream.snapshot) await keepValue(this.#table, of, head.root.log, repeated);
        return { entry: entryOf(repeated, epochOf(head.root)) };
      }
      const tile = tileAfter(head.tile, message, options, nonce, head.root.base);
      const placed = await this.#place(of, head, tile);
      if (placed.isOurs) {
        // Before its subscribers are looked up: a reader that is not sent the message finds its value.
        if (stream.snapshot) await keepValue(this.#table, of, head.root.log, placed.tile);
        this.#ends?.set(name, { ...head, tile: placed.tile });
        return { entry: entryOf(placed.tile, epochOf(head.root)) };
      }
      // One place after the winner, then at the end of the log.
      head = tries % 2 === 0 ? placed.head : undefined;
    }
    return 'contended';
  }

  /** The message of the origin, if the log has it and its readers may not. */
  async #repeated(
    { tenant, topic }: StreamTopic,
    { root, tile }: LogHead,
    origin: MessageOrigin,
    nowMs: number,
  ): Promise<Tile | undefined> {
    const last = placeUpTo(tile, origin, nowMs);
    if (last === undefined) return undefined;
    const { p, s: to } = streamTileKey(tenant, topic, root.log, last);
    const { s: from } = streamTileKey(tenant, topic, root.log, 1);
    const range = { p, from, to, limit: STREAM_REPEATED_READ_MAX, isBackward: true };
    const { items } = await this.#table.query(range);
    for (const item of items) {
      const each = tileOf(item);
      if (each === 'closing' || each.tsMs + STREAM_REPEATED_MS < nowMs) return undefined;
      if (isOf(each, origin)) return each;
    }
    return undefined;
  }

  /** A loser goes on after the winner, which the failed condition returns. */
  async #place(
    { tenant, stream }: StreamTopic,
    head: LogHead,
    tile: Tile,
  ): Promise<
    | { readonly isOurs: true; readonly tile: Tile }
    | { readonly isOurs: false; readonly head: LogHead | undefined }
  > {
    const key = streamTileKey(tenant, tile.message.topic, head.root.log, tile.number);
    const item = itemOf(key, tile, ttlSeconds(tile.tsMs, keptMs(stream)));
    const { ok, old } = await this.#table.put(item, { condition: 'attribute_not_exists(p)' });
    if (ok) return { isOurs: true, tile };
    const winner = old && tileOf(old);
    if (winner === undefined || winner === 'closing') return { isOurs: false, head: undefined };
    // The answer to our own write may have been lost.
    if (winner.nonce === tile.nonce) return { isOurs: true, tile: winner };
    return { isOurs: false, head: { ...head, tile: winner } };
  }

  async tail(
    tenant: string,
    stream: StreamDeclaration,
    topic: string,
    nowMs: number,
    holder?: string,
  ): Promise<StreamTail | 'full' | 'contended'> {
    const head = await openLog(this.#table, { tenant, stream, topic, holder }, nowMs, false);
    return typeof head === 'string' ? head : tailOf(head);
  }

  async firstKept(
    tenant: string,
    stream: StreamDeclaration,
    tail: StreamTopicTail,
    from: number,
    nowMs: number,
  ): Promise<number> {
    return await this.#firstOf(tenant, tail, lowest(stream, tail, from), isKept(stream, tail, nowMs));
  }

  async since(
    tenant: string,
    stream: StreamDeclaration,
    tail: StreamTopicTail,
    tsMs: number,
    nowMs: number,
  ): Promise<StreamSince> {
    const isKeptTile = isKept(stream, tail, nowMs);
    const isMeant = (tile: Tile) => isKeptTile(tile) && tile.tsMs >= tsMs;
    const first = await this.#firstOf(tenant, tail, lowest(stream, tail, 1), isMeant);
    const before = first === 1 ? undefined : await this.#tile(tenant, tail, first - 1);
    const completeFromMs =
      first === 1 ? headIn(tail).root.openedAtMs : (before?.tsMs ?? Number.POSITIVE_INFINITY) + 1;
    return { number: first, isComplete: completeFromMs <= tsMs };
  }

  async read(
    tenant: string,
    topic: string,
    epoch: string,
    after: number,
    limit: PageLimit,
  ): Promise<readonly StreamEntry[] | 'lost'> {
    const log = epoch.slice(0, LOG_LENGTH);
    const from = streamTileKey(tenant, topic, log, after + 1);
    const to = streamTileKey(tenant, topic, log, Number.MAX_SAFE_INTEGER);
    const range = { p: from.p, from: from.s, to: to.s.slice(0, from.s.length), limit: limit.messages };
    const [head, { items }] = await Promise.all([
      readHead(this.#table, tenant, topic),
      this.#table.query(range),
    ]);
    if (head === undefined || head === 'moving' || epochOf(head.root) !== epoch) return 'lost';
    const page = new Page<StreamEntry>(limit);
    for (const item of items) {
      const tile = tileOf(item);
      if (tile === 'closing' || tile.number !== after + page.entries.length + 1) break;
      if (!page.hasRoom(tile.bytes)) break;
      page.add(entryOf(tile, epoch), messageBytes(tile.message));
    }
    const isEnd = after === lastOf(head);
    return page.entries.length === 0 && !isEnd ? 'lost' : page.entries;
  }

  /**
   * The values that handlers have written, and those of messages whose handlers may not have written them yet:
   *
   *     publisher                          newcomer
   *     appends 5
   *                                        SUBSCRIBE is stored; the log ends with 5; reads values: 4 is the last
   *     writes the value of 5
   *     sends 5 to the newcomer, which has been told that it is up to 5, and drops it
   *
   * Each page reads all of them: no reader asks for a second one.
   */
  async lastValues(
    tenant: string,
    stream: StreamDeclaration,
    tail: StreamTopicTail,
    after: number,
    limit: PageLimit,
    nowMs: number,
  ): Promise<readonly StreamEntry[]> {
    const { root, tile } = headIn(tail);
    const of = { tenant, stream, topic: tail.topic };
    const values = new Map<string, Tile>();
    if (stream.snapshot)
      for await (const value of readValues(this.#table, of, root)) values.set(value.key ?? '', value);
    const from = stream.snapshot
      ? stableNow(tile, tail, nowMs)
      : (await this.firstKept(tenant, stream, tail, 1, nowMs)) - 1;
    for await (const late of this.#tilesBehind(tenant, tail, from)) {
      const value = values.get(late.key ?? '');
      if (value === undefined || value.number < late.number) values.set(late.key ?? '', late);
    }
    const sorted = [...values.values()]
      .filter((each) => each.number > after && each.number <= tail.last && isValue(each, nowMs))
      .sort((one, other) => one.number - other.number)
      .map((each) => entryOf(each, tail.epoch));
    return pageOf(sorted, limit);
  }

  /** The messages after a number, up to the newest of the tail. */
  async *#tilesBehind(tenant: string, tail: StreamTopicTail, after: number): AsyncGenerator<Tile> {
    const { log } = headIn(tail).root;
    const from = streamTileKey(tenant, tail.topic, log, Math.max(after, tail.last - STREAM_UNSTABLE_MAX) + 1);
    const to = streamTileKey(tenant, tail.topic, log, tail.last);
    let next: string | undefined;
    if (after >= tail.last) return;
    do {
      const page = await this.#table.query({ p: from.p, from: from.s, to: to.s, after: next });
      for (const item of page.items) {
        const tile = tileOf(item);
        if (tile !== 'closing') yield tile;
      }
      next = page.next;
    } while (next !== undefined);
  }

  async topics(
    tenant: string,
    stream: StreamDeclaration,
    topicFilter: string,
    countMax: number,
    nowMs: number,
  ): Promise<readonly StreamTopicTail[] | 'too-many'> {
    const names = await this.#names(tenant, stream, topicFilter, countMax * STREAM_TOPICS_LOOKED_AT);
    if (names === 'too-many') return names;
    const tails: StreamTopicTail[] = [];
    const waiting = names.values();
    const look = async () => {
      for (const topic of waiting) {
        const of = { tenant, stream, topic };
        const head = await headOf(this.#table, of, nowMs);
        if (head === undefined || head === 'moving' || (await isOver(this.#table, of, head, nowMs))) continue;
        tails.push({ topic, ...tailOf(head) });
      }
    };
    await Promise.all(Array.from({ length: STREAM_LANES }, look));
    return tails.length > countMax ? 'too-many' : tails;
  }

  async newEpoch(tenant: string, topic: string): Promise<string | undefined> {
    const head = await readHead(this.#table, tenant, topic);
    if (head === undefined || head === 'moving') return undefined;
    // If TTL has deleted the root meanwhile, an item without a log would keep the topic from being opened again.
    await this.#table.update(streamRootKey(tenant, topic), 'ADD e :one', {
      condition: 'g = :log',
      values: { ':one': number(1), ':log': text(head.root.log) },
    });
    const after = await readHead(this.#table, tenant, topic);
    return after === undefined || after === 'moving' ? undefined : epochOf(after.root);
  }

  /** Approximate: each topic counts as if its messages were of one size and none too old. */
  async figures(tenant: string, stream: StreamDeclaration): Promise<StreamFigures> {
    const { clock } = this.#table.settings;
    const tails = await this.topics(tenant, stream, '#', stream.topicsMax, clock.now());
    const figures = { topics: 0, messages: 0, bytes: 0 };
    for (const { last, note } of tails === 'too-many' ? [] : tails) {
      const { tile } = note as LogHead;
      const kept = Math.min(last, stream.messagesMax);
      figures.topics += 1;
      figures.messages += kept;
      if (tile !== undefined) figures.bytes += Math.round(((tile.bytesBefore + tile.bytes) / last) * kept);
    }
    return figures;
  }

  /**
   * Number of the first tile from `from` on for which `isIt` is true, and with it for all later ones; above the last:
   * none.
   */
  async #firstOf(
    tenant: string,
    tail: StreamTopicTail,
    from: number,
    isIt: (tile: Tile) => boolean,
  ): Promise<number> {
    let [low, high] = [from, tail.last + 1];
    // In most cases the first tile is the one, so the search begins there.
    let middle = low;
    while (low < high) {
      const tile = await this.#tile(tenant, tail, middle);
      if (tile !== undefined && isIt(tile)) high = middle;
      else low = middle + 1;
      middle = (low + high) >>> 1;
    }
    return low;
  }

  async #tile(tenant: string, tail: StreamTopicTail, number: number): Promise<Tile | undefined> {
    const { root, tile: last } = headIn(tail);
    if (number === last?.number) return last;
    const item = await this.#table.get(streamTileKey(tenant, tail.topic, root.log, number));
    const tile = item && tileOf(item);
    return tile === 'closing' ? undefined : tile;
  }

  async #names(
    tenant: string,
    stream: StreamDeclaration,
    topicFilter: string,
    countMax: number,
  ): Promise<readonly string[] | 'too-many'> {
    const literal = topicFilter.split(/[+#]/)[0] ?? '';
    if (literal === topicFilter) return [topicFilter];
    // `a/#` matches `a`, too.
    const prefix = streamTopicPrefix(literal.replace(/\/$/, ''));
    const range = { p: streamTopicsPartition(tenant, stream.name), from: prefix || '\0', to: endOf(prefix) };
    const names: string[] = [];
    let after: string | undefined;
    do {
      const page = await this.#table.query({ ...range, after });
      for (const item of page.items) {
        const topic = textOf(item, 'n') ?? '';
        if (matches(topicFilter, topic)) names.push(topic);
      }
      if (names.length > countMax) return 'too-many';
      after = page.next;
    } while (after !== undefined);
    return names;
  }
}

function headIn({ note }: StreamTopicTail): LogHead {
  return note as LogHead;
}

/** Messages up to this number are stable by now. */
function stableNow(tile: Tile | undefined, { last }: StreamTopicTail, nowMs: number): number {
  if (tile === undefined) return last;
  return stableAt(tile, Math.max(nowMs, tile.tsMs)).stable;
}

/** The lowest number that may be handed out. */
function lowest({ messagesMax }: StreamDeclaration, { last }: StreamTopicTail, from: number): number {
  return Math.max(1, from, last - messagesMax + 1);
}

/** Whether a tile is handed out, by its age and by the bytes after it. */
function isKept(
  { keepSeconds, bytesMax }: StreamDeclaration,
  tail: StreamTopicTail,
  nowMs: number,
): (tile: Tile) => boolean {
  const { tile: last } = headIn(tail);
  const sinceMs = nowMs - keepSeconds * 1_000;
  const total = last === undefined ? 0 : last.bytesBefore + last.bytes;
  return ({ tsMs, bytesBefore }) => tsMs >= sinceMs && total - bytesBefore <= bytesMax;
}
