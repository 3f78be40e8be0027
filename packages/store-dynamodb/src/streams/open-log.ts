import { mayOpen, type StreamDeclaration } from '@apus/broker';
import { DECISIONS_MAX } from '../limits.ts';
import {
  shortHash,
  streamRootKey,
  streamTileKey,
  streamTopicKey,
  streamTopicsPartition,
} from '../table/keys.ts';
import { endOf, marshalled, type Table } from '../table/table.ts';
import { transact } from '../table/transaction.ts';
import { type Item, number, text, textOf, VERSION } from '../table/values.ts';
import {
  isSilent,
  keptMs,
  type LogHead,
  lastOf,
  newLog,
  readHead,
  rememberedMs,
  ttlSeconds,
} from './log-head.ts';
import { hasValue, readValues } from './values.ts';

export interface StreamTopic {
  readonly tenant: string;
  readonly stream: StreamDeclaration;
  readonly topic: string;
  /** The `quotaHolderKey` for which a new topic is opened. */
  readonly holder?: string | undefined;
}

/** The present log of the topic. Opens one if there is none, and leaves the present one if it is over. */
export async function openLog(
  table: Table,
  of: StreamTopic,
  nowMs: number,
  isForced: boolean,
): Promise<LogHead | 'full' | 'contended'> {
  for (let round = 0; round < DECISIONS_MAX; round += 1) {
    const head = await headOf(table, of, nowMs);
    if (head === 'moving') continue;
    if (head === undefined) {
      if (!isForced && (await isFull(table, of))) return 'full';
      await open(table, of, nowMs);
    } else if (await isOver(table, of, head, nowMs)) await leave(table, of, head, nowMs);
    else {
      await prolong(table, of, head, nowMs);
      return head;
    }
  }
  return 'contended';
}

/** Whether the topic has neither a message nor a value to hand out. */
export async function isOver(table: Table, of: StreamTopic, head: LogHead, nowMs: number): Promise<boolean> {
  return isSilent(head, of.stream, nowMs) && !(await hasValue(table, of, head.root, nowMs));
}

/**
 * As `readHead`. If a topic has had values for so long that TTL has deleted all tiles, it goes on after the newest of
 * these values, in another epoch: a message whose handler died before it wrote its value may have had the next number.
 */
export async function headOf(
  table: Table,
  of: StreamTopic,
  nowMs: number,
): Promise<LogHead | 'moving' | undefined> {
  const head = await readHead(table, of.tenant, of.topic);
  if (!of.stream.snapshot || head === undefined || head === 'moving' || head.tile !== undefined) return head;
  if (!isSilent(head, of.stream, nowMs)) return head;
  const { root } = head;
  let newest = root.base;
  for await (const tile of readValues(table, of, root)) newest = Math.max(newest, tile.number);
  if (newest === root.base) return head;
  await table.update(streamRootKey(of.tenant, of.topic), 'SET b = :newest ADD e :one', {
    condition: 'g = :log AND e = :generation',
    values: {
      ':newest': number(newest),
      ':one': number(1),
      ':log': text(root.log),
      ':generation': number(root.generation),
    },
  });
  // Another process may have changed it, or appended.
  return await readHead(table, of.tenant, of.topic);
}

/**
 * Whether the stream has as many topics as it may, in all or of this holder. Opening a topic counts the list: 0.3 units
 * for ten of them.
 */
async function isFull(table: Table, { tenant, stream, holder }: StreamTopic): Promise<boolean> {
  const p = streamTopicsPartition(tenant, stream.name);
  const items = await table.queryAll({ p, from: '\0', to: endOf(''), attributes: ['t', 'h'] });
  const own = holder === undefined ? [] : items.filter((item) => textOf(item, 'h') === shortHash(holder));
  return !mayOpen(stream, items.length, own.length);
}

/** Writes the list first, so that a topic with a root is in it. */
async function open(table: Table, of: StreamTopic, nowMs: number): Promise<void> {
  await list(table, of, nowMs);
  const log = newLog(undefined, nowMs, table.settings.random());
  const root: Item = {
    ...marshalled(streamRootKey(of.tenant, of.topic)),
    v: number(VERSION),
    t: number(rootEnds(of.stream, nowMs)),
    g: text(log),
    e: number(0),
    o: number(nowMs),
  };
  await table.put(root, {
    condition: 'attribute_not_exists(p) OR t <= :now',
    values: { ':now': number(table.nowSeconds()) },
  });
}

/**
 * Leaves a log that is over: one transaction closes it with a tile in its next place, and names the next log.
 *
 *     publisher A, whose clock is late   publisher B
 *     reads: the log goes on behind 57
 *                                        reads: it is over
 *                                        the next log; 1 is appended there
 *     (were place 58 free …)
 *     … 58 would stand where no reader looks
 *     58 is taken, by the tile that closes the log: reads again
 */
async function leave(table: Table, of: StreamTopic, head: LogHead, nowMs: number): Promise<void> {
  const { tenant, topic, stream } = of;
  const { log } = head.root;
  await list(table, of, nowMs);
  const closing: Item = {
    ...marshalled(streamTileKey(tenant, topic, log, lastOf(head) + 1)),
    v: number(VERSION),
    t: number(ttlSeconds(nowMs, keptMs(stream))),
    x: number(1),
  };
  const values = {
    ':log': text(log),
    ':next': text(newLog(log, nowMs, table.settings.random())),
    ':now': number(nowMs),
    ':none': number(0),
    ':t': number(rootEnds(stream, nowMs)),
  };
  await transact(table, [
    { put: closing, condition: 'attribute_not_exists(p)' },
    {
      key: streamRootKey(tenant, topic),
      update: 'SET g = :next, e = :none, o = :now, t = :t REMOVE b',
      condition: 'g = :log',
      values,
    },
  ]);
}

/** The root and the topic's entry in the list outlive the tiles. They are written again once in so many days. */
async function prolong(table: Table, of: StreamTopic, { root }: LogHead, nowMs: number): Promise<void> {
  if (root.endsAtSeconds > ttlSeconds(nowMs, rememberedMs(of.stream))) return;
  await list(table, of, nowMs);
  await table.update(streamRootKey(of.tenant, of.topic), 'SET t = :t', {
    condition: 'g = :log',
    values: { ':log': text(root.log), ':t': number(rootEnds(of.stream, nowMs)) },
  });
}

/** The topic belongs to the holder that opened it first, as long as it is in the list (`h`). */
async function list(
  table: Table,
  { tenant, stream, topic, holder }: StreamTopic,
  nowMs: number,
): Promise<void> {
  const isOf = holder === undefined ? '' : ', h = if_not_exists(h, :h)';
  await table.update(streamTopicKey(tenant, stream.name, topic), `SET v = :v, t = :t, n = :n${isOf}`, {
    values: {
      ':v': number(VERSION),
      ':t': number(rootEnds(stream, nowMs)),
      ':n': text(topic),
      ...(holder !== undefined && { ':h': text(shortHash(holder)) }),
    },
  });
}

function rootEnds(stream: StreamDeclaration, nowMs: number): number {
  return ttlSeconds(nowMs, 2 * rememberedMs(stream)) + ttlSeconds(0, 0);
}
