import type { StreamDeclaration, StreamTail } from '@apus/broker';
import { STREAM_SLACK_MS, STREAM_TTL_SLACK_SECONDS, STREAM_VALUE_KEPT_MS } from '../limits.ts';
import { streamLogPartition, streamRootKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { type Item, numberOf, textOf } from '../table/values.ts';
import { logOf, type Tile, tileOf } from './tile.ts';

/**
 * The root of a topic: `g` its present log, `e` how often its continuity was ended there, `o` when the log was opened.
 * The epoch names both: a log that was left is never continued, so its numbers are never assigned twice. `b`: the last
 * number that TTL had deleted when the topic was last looked at, if its stream keeps values.
 */
export interface Root {
  readonly log: string;
  readonly generation: number;
  readonly openedAtMs: number;
  readonly base: number;
  readonly endsAtSeconds: number;
}

/** The root of a topic and the end of its log, as one Query reads them. */
export interface LogHead {
  readonly root: Root;
  /** The newest tile. Undefined: the log is empty. */
  readonly tile: Tile | undefined;
}

/** Characters of a log's name: its time, and some random ones. */
const TIME_DIGITS = 9;
const RANDOM_DIGITS = 4;
export const LOG_LENGTH = TIME_DIGITS + RANDOM_DIGITS;

/** A later log of a topic has a larger name, even if the clock runs backwards. */
export function newLog(before: string | undefined, nowMs: number, random: number): string {
  const beforeMs = before === undefined ? 0 : Number.parseInt(before.slice(0, TIME_DIGITS), 36);
  const timeMs = Math.max(nowMs, beforeMs + 1);
  const chance = Math.floor(random * 36 ** RANDOM_DIGITS);
  return digits(timeMs, TIME_DIGITS) + digits(chance, RANDOM_DIGITS);
}

function digits(value: number, width: number): string {
  return value.toString(36).padStart(width, '0');
}

export function epochOf({ log, generation }: Root): string {
  return log + generation.toString(36);
}

export function lastOf({ root, tile }: LogHead): number {
  return tile?.number ?? root.base;
}

export function tailOf(head: LogHead): StreamTail {
  return { epoch: epochOf(head.root), last: lastOf(head), note: head };
}

/** Whether every message of the log is too old to be handed out. */
export function isSilent({ root, tile }: LogHead, stream: StreamDeclaration, nowMs: number): boolean {
  return (tile?.tsMs ?? root.openedAtMs) + keptMs(stream) < nowMs;
}

/** How long after its last message a log can be read. */
export function keptMs({ keepSeconds }: StreamDeclaration): number {
  return keepSeconds * 1_000 + STREAM_SLACK_MS;
}

/** How long after its last message a topic may have something to hand out. */
export function rememberedMs(stream: StreamDeclaration): number {
  return stream.snapshot ? Math.max(keptMs(stream), STREAM_VALUE_KEPT_MS) : keptMs(stream);
}

/** When TTL may delete the value of a key. */
export function valueEndsAt(stream: StreamDeclaration, tsMs: number): number {
  return ttlSeconds(tsMs, rememberedMs(stream));
}

/** When TTL may delete an item that can be read until `ms` after `fromMs`. */
export function ttlSeconds(fromMs: number, ms: number): number {
  return Math.ceil((fromMs + ms) / 1_000) + STREAM_TTL_SLACK_SECONDS;
}

/**
 * The root and the newest tile of a topic, in one read. Undefined: there is no root. 'moving': another process is
 * leaving the log for the next one.
 */
export async function readHead(
  table: Table,
  tenant: string,
  topic: string,
): Promise<LogHead | 'moving' | undefined> {
  const p = streamLogPartition(tenant, topic);
  const { s: to } = streamRootKey(tenant, topic);
  const { items } = await table.query({ p, from: '0', to, limit: 2, isBackward: true });
  const [first, second] = items;
  const root = textOf(first, 's') === to ? rootOf(first) : undefined;
  if (root === undefined) return undefined;
  if (second === undefined || logOf(second) !== root.log) return { root, tile: undefined };
  const tile = tileOf(second);
  return tile === 'closing' ? 'moving' : { root, tile };
}

function rootOf(item: Item | undefined): Root | undefined {
  const log = textOf(item, 'g');
  if (log === undefined) return undefined;
  return {
    log,
    generation: numberOf(item, 'e') ?? 0,
    openedAtMs: numberOf(item, 'o') ?? 0,
    base: numberOf(item, 'b') ?? 0,
    endsAtSeconds: numberOf(item, 't') ?? 0,
  };
}
