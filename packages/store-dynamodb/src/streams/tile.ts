import {
  type AppendOptions,
  type Message,
  type MessageOrigin,
  messageBytes,
  STABLE_AFTER_MS,
  type StreamEntry,
} from '@apus/broker';
import { STREAM_CHECKPOINTS_MAX, STREAM_ORIGINS_MAX, STREAM_REPEATED_MS } from '../limits.ts';
import { type Key, shortHash } from '../table/keys.ts';
import { decodeMessage, encodeMessage } from '../table/message-blob.ts';
import { marshalled } from '../table/table.ts';
import {
  bytes,
  bytesOf,
  type Item,
  numberOf,
  number as numeric,
  text,
  textOf,
  VERSION,
} from '../table/values.ts';

/** The number of a message, and when it was appended: it is stable ten seconds later. */
type Checkpoint = readonly [number: number, tsMs: number];

/** The newest message of a source (`shortHash`): its number there, its place in the log, and when it was appended. */
type KnownOrigin = readonly [source: string, number: number, place: number, tsMs: number];

/** One message of a topic, in its place. */
export interface Tile {
  readonly number: number;
  readonly tsMs: number;
  readonly key: string | undefined;
  /** Bytes of the messages before it in the log, and its own. */
  readonly bytesBefore: number;
  readonly bytes: number;
  /** Messages up to this number were stable when it was appended. */
  readonly stable: number;
  readonly checkpoints: readonly Checkpoint[];
  /** Of the messages up to this one, those of the last seconds that their sources may hand over again. */
  readonly origins: readonly KnownOrigin[];
  /** The nonce of its append. */
  readonly nonce: string;
  readonly message: Message;
}

/*
 * The item of a tile. `m` the message, `ts` when it was appended, `k` its key, `b` the bytes before it, `f` up to
 * where messages are stable, `c` the checkpoints as JSON, `o` the origins likewise, `n` the nonce of its append. `x` 1 and nothing else: the log
 * ends here, and another one goes on.
 */

/** The tile after another one; if none is left of the log, after the last number that was assigned in it. */
export function tileAfter(
  before: Tile | undefined,
  message: Message,
  { key, nowMs, origin }: AppendOptions,
  nonce: string,
  base = 0,
): Tile {
  const tsMs = Math.max(nowMs, before?.tsMs ?? 0);
  const place = (before?.number ?? base) + 1;
  return {
    number: place,
    tsMs,
    key,
    bytesBefore: before === undefined ? 0 : before.bytesBefore + before.bytes,
    bytes: messageBytes(message),
    ...(before === undefined ? { stable: base, checkpoints: [] } : stableAt(before, tsMs)),
    origins: originsAt(before, tsMs, origin, place),
    nonce,
    message,
  };
}

/**
 * Up to where messages are stable at a time, since their handlers are over; and checkpoints for some of the others.
 * Messages between two checkpoints count as later than they are.
 */
export function stableAt(before: Tile, tsMs: number): Pick<Tile, 'stable' | 'checkpoints'> {
  const limitMs = tsMs - STABLE_AFTER_MS;
  const noted: readonly Checkpoint[] = [...before.checkpoints, [before.number, before.tsMs]];
  const [stable] = noted.filter(([, notedMs]) => notedMs <= limitMs).at(-1) ?? [before.stable];
  const open = noted.filter(([, notedMs]) => notedMs > limitMs);
  const apartMs = STABLE_AFTER_MS / STREAM_CHECKPOINTS_MAX;
  const [last, previous] = [open.at(-1), open.at(-2)];
  const isClose = last !== undefined && previous !== undefined && last[1] - previous[1] < apartMs;
  return { stable, checkpoints: isClose ? open.slice(0, -1) : open };
}

function originsAt(
  before: Tile | undefined,
  tsMs: number,
  origin: MessageOrigin | undefined,
  place: number,
): readonly KnownOrigin[] {
  const source = origin && shortHash(origin.source);
  const recent = (before?.origins ?? []).filter((known) => known[0] !== source && isRecent(known, tsMs));
  if (source === undefined || origin === undefined) return recent;
  return [...recent, [source, origin.number, place, tsMs] as const].slice(-STREAM_ORIGINS_MAX);
}

function isRecent([, , , tsMs]: KnownOrigin, nowMs: number): boolean {
  return tsMs + STREAM_REPEATED_MS >= nowMs;
}

/** Where to look for the message of an origin, backwards; undefined if the log does not have it, or for too long. */
export function placeUpTo(
  tile: Tile | undefined,
  { source, number }: MessageOrigin,
  nowMs: number,
): number | undefined {
  const hash = shortHash(source);
  const known = tile?.origins.find(([each]) => each === hash);
  return known !== undefined && number <= known[1] && isRecent(known, nowMs) ? known[2] : undefined;
}

/** Whether the tile is the message of the origin. */
export function isOf({ number: place, origins }: Tile, { source, number }: MessageOrigin): boolean {
  const own = origins.find((known) => known[2] === place);
  return own !== undefined && own[0] === shortHash(source) && own[1] === number;
}

export function itemOf(itemKey: Key, tile: Tile, endsAtSeconds: number): Item {
  const { key, message } = tile;
  return {
    ...marshalled(itemKey),
    v: numeric(VERSION),
    t: numeric(endsAtSeconds),
    m: bytes(encodeMessage(message)),
    ts: numeric(tile.tsMs),
    ...(key !== undefined && { k: text(key) }),
    b: numeric(tile.bytesBefore),
    f: numeric(tile.stable),
    c: text(JSON.stringify(tile.checkpoints)),
    ...(tile.origins.length > 0 && { o: text(JSON.stringify(tile.origins)) }),
    n: text(tile.nonce),
  };
}

export function logOf(item: Item): string {
  return textOf(item, 's')?.split('-')[0] ?? '';
}

/** @param number of the tile. @default the one in its sort key */
export function tileOf(item: Item, number = Number(textOf(item, 's')?.split('-')[1])): Tile | 'closing' {
  const message = decodeMessage(bytesOf(item, 'm') ?? new Uint8Array());
  if (item.x !== undefined || message === undefined) return 'closing';
  return {
    number,
    tsMs: numberOf(item, 'ts') ?? 0,
    key: textOf(item, 'k'),
    bytesBefore: numberOf(item, 'b') ?? 0,
    bytes: messageBytes(message),
    stable: numberOf(item, 'f') ?? 0,
    checkpoints: JSON.parse(textOf(item, 'c') ?? '[]') as Checkpoint[],
    origins: JSON.parse(textOf(item, 'o') ?? '[]') as KnownOrigin[],
    nonce: textOf(item, 'n') ?? '',
    message,
  };
}

export function entryOf({ number, tsMs, key, stable, message }: Tile, epoch: string): StreamEntry {
  return { epoch, number, tsMs, key, stable, message };
}
