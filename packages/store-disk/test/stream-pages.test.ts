import { readStreams, type StreamEntry, type StreamStore, type StreamTopicTail } from '@apus/broker';
import { messageId, messageOf, NOW_MS } from '@apus/broker/samples';
import { MemoryBudget } from '@apus/store-memory';
import { expect, it } from 'vitest';
import { createDiskStores } from '../src/index.ts';
import { temporaryDirectory } from './support/directory.ts';
import { gatedStores, MapJournal } from './support/map-journal.ts';

const clock = { now: () => NOW_MS };
const limits = { messagesMax: 100_000, bytesMax: 1_000_000_000 };
const streams = readStreams([{ name: 's', topicFilter: 's/#', ...limits }], 'streams');
const [STREAM] = streams.all as [(typeof streams.all)[number]];
const PAGE = { messages: 32, bytes: 1_000_000 };
const BYTES_MAX = 1_000_000;
const PAYLOAD_BYTES = 1_000;

/** The payload begins with the number. */
function append(store: StreamStore, number: number, stream = STREAM, bytes = PAYLOAD_BYTES) {
  const payload = Buffer.alloc(bytes);
  payload.writeUInt32BE(number);
  const message = messageOf({ topic: 's/a', payload, id: messageId(number) });
  const options = { key: undefined, nowMs: NOW_MS, isForced: false };
  const appended = store.append('t', stream, message, options);
  if (appended instanceof Promise) throw new Error('it has to answer at once');
  return appended;
}

const tailOf = (store: StreamStore) =>
  ({ topic: 's/a', ...(store.tail('t', STREAM, 's/a', NOW_MS) as object) }) as StreamTopicTail;

/** The numbers in the payloads after a position, page by page. */
function readAll(store: StreamStore, after: number): readonly number[] | 'lost' {
  const { epoch, last } = tailOf(store);
  const found: number[] = [];
  for (let at = after; at < last; at = after + found.length) {
    const page = store.read('t', 's/a', epoch, at, PAGE) as readonly StreamEntry[] | 'lost';
    if (page === 'lost') return page;
    expect(page.map(({ number }) => number)).toEqual(page.map((_, index) => at + 1 + index));
    found.push(...page.map(({ message }) => Buffer.from(message.payload).readUInt32BE()));
  }
  return found;
}

const upTo = (last: number, from = 1) => Array.from({ length: last - from + 1 }, (_, index) => from + index);

it('reads a history that is larger than the memory whole and in order, and from any position, after a restart too', async () => {
  const directory = temporaryDirectory();
  const open = async () => {
    const memory = new MemoryBudget(BYTES_MAX);
    return { memory, stores: await createDiskStores({ directory, clock, streams, memory }) };
  };
  const count = (4 * BYTES_MAX) / PAYLOAD_BYTES;
  const { memory, stores } = await open();
  let written: Promise<void> | undefined;
  for (let number = 1; number <= count; number += 1) {
    const appended = append(stores.streamStore, number);
    if (typeof appended === 'string') throw new Error(appended);
    written = appended.written;
    if (number === count / 2) await written;
  }
  // A part is on the disk, and the rest waits for it.
  expect(readAll(stores.streamStore, 0)).toEqual(upTo(count));
  await written;
  expect(readAll(stores.streamStore, 0)).toEqual(upTo(count));
  expect(memory.bytes).toBeLessThan(BYTES_MAX);
  const { epoch } = tailOf(stores.streamStore);
  await stores.close();

  const again = await open();
  expect(again.memory.bytes).toBe(memory.bytes);
  expect(tailOf(again.stores.streamStore)).toMatchObject({ epoch, last: count });
  expect(readAll(again.stores.streamStore, 0)).toEqual(upTo(count));
  expect(readAll(again.stores.streamStore, 1_234)).toEqual(upTo(count, 1_235));
  expect(readAll(again.stores.streamStore, count - 1)).toEqual([count]);
  await again.stores.close();
});

it('reads each message between the commits that put it on the disk', async () => {
  const { streamStore, close } = await createDiskStores({ directory: temporaryDirectory(), clock, streams });
  let last = 0;
  for (let turn = 0; turn < 200; turn += 1) {
    for (let count = 0; count <= turn % 7; count += 1) {
      last += 1;
      append(streamStore, last);
    }
    const after = Math.max(0, last - 40);
    expect(readAll(streamStore, after)).toEqual(upTo(last, after + 1));
    await new Promise(setImmediate);
    expect(readAll(streamStore, after)).toEqual(upTo(last, after + 1));
  }
  await close();
});

it('finds what was trimmed between two pages lost, and goes on behind it', () => {
  const small = readStreams([{ name: 's', topicFilter: 's/#', ...limits, messagesMax: 100 }], 'streams');
  const [stream] = small.all as [(typeof small.all)[number]];
  const journal = new MapJournal();
  const { streamStore, flush } = gatedStores(journal, clock, undefined, small);
  for (let number = 1; number <= 200; number += 1) append(streamStore, number, stream);
  const { epoch } = tailOf(streamStore);
  expect(streamStore.read('t', 's/a', epoch, 0, PAGE)).toHaveLength(PAGE.messages);
  append(streamStore, 201, stream);
  expect(streamStore.read('t', 's/a', epoch, PAGE.messages, PAGE)).toBe('lost');
  expect(readAll(streamStore, 101)).toEqual(upTo(201, 102));
  flush();
  expect(readAll(streamStore, 101)).toEqual(upTo(201, 102));
  expect([...journal.scan('e')]).toHaveLength(100);
});

it.each([
  ['is missing', (journal: MapJournal, key: string) => journal.records.delete(key)],
  ['is damaged', (journal: MapJournal, key: string) => journal.records.set(key, Buffer.from('x'))],
])('names a record that %s, and reads the others', (_title, damage) => {
  const journal = new MapJournal();
  const { streamStore, flush } = gatedStores(journal, clock, undefined, streams);
  for (let number = 1; number <= 100; number += 1) append(streamStore, number);
  flush();
  const [key] = [...journal.records.keys()].filter((each) => each.startsWith('e')).slice(49);
  damage(journal, key as string);
  const { epoch } = tailOf(streamStore);
  expect(() => readAll(streamStore, 0)).toThrow(`the record ${key} cannot be read`);
  expect(streamStore.read('t', 's/a', epoch, 0, PAGE)).toHaveLength(PAGE.messages);
  expect(readAll(streamStore, 50)).toEqual(upTo(100, 51));
});

it('refuses a history of sixteen times the memory that a tenant may have [SEC-TENANT-9]', () => {
  const memory = new MemoryBudget(BYTES_MAX);
  const { streamStore, flush } = gatedStores(new MapJournal(), clock, undefined, streams, memory);
  let last = 0;
  while (append(streamStore, last + 1, STREAM, 100_000) !== 'full') last += 1;
  flush();
  expect((last * 100_000) / BYTES_MAX).toBeGreaterThan(11.5);
  expect((last * 100_000) / BYTES_MAX).toBeLessThan(12.5);
  expect(readAll(streamStore, 0)).toEqual(upTo(last));
});

it('finds a message that was appended long ago by its id, and no new one', () => {
  const { streamStore, flush } = gatedStores(new MapJournal(), clock, undefined, streams);
  for (let number = 1; number <= 1_000; number += 1) append(streamStore, number);
  flush();
  const find = (id: number) => streamStore.findAppended('t', 's/a', messageId(id))?.entry.number;
  expect([1, 850, 1_000].map(find)).toEqual([1, 850, 1_000]);
  expect(find(1_001)).toBeUndefined();
});

it('gives back up to which message a reader has seen all, where handlers publish side by side', () => {
  const journal = new MapJournal();
  const { streamStore, flush } = gatedStores(journal, clock, undefined, streams);
  streamStore.stableAfterMs = 1_000;
  const appended = [1, 2, 3].map((number) => append(streamStore, number));
  flush();
  const page = streamStore.read('t', 's/a', tailOf(streamStore).epoch, 0, PAGE);
  expect(page).toMatchObject(
    appended.map((each) => ({ stable: typeof each !== 'string' && each.entry.stable })),
  );
});

/** Counts the entries that are read. */
class CountingJournal extends MapJournal {
  entries = 0;

  override *scan(kind: string, from = kind): Generator<readonly [string, Buffer]> {
    for (const record of super.scan(kind, from)) {
      if (kind === 'e') this.entries += 1;
      yield record;
    }
  }
}

it('reads the index at a start, and no entry that it has', () => {
  const journal = new CountingJournal();
  const before = gatedStores(journal, clock, undefined, streams);
  for (let number = 1; number <= 1_000; number += 1) append(before.streamStore, number);
  before.flush();
  const memory = new MemoryBudget();
  const { streamStore } = gatedStores(journal, clock, undefined, streams, memory);
  // 768 stand in three records of the index. The look at the first of them finds where to go on.
  expect(journal.entries).toBe(1 + 1_000 - 768);
  expect(streamStore.figures('t', STREAM)).toEqual(before.streamStore.figures('t', STREAM));
  expect(tailOf(streamStore)).toEqual(tailOf(before.streamStore));
  expect(readAll(streamStore, 0)).toEqual(upTo(1_000));
  expect(streamStore.findAppended('t', 's/a', messageId(500))?.entry.number).toBe(500);
  expect(append(streamStore, 1_001)).toMatchObject({ entry: { number: 1_001 } });
});

it('begins where the history was trimmed when it is read from the index, with its sources', () => {
  const small = readStreams([{ name: 's', topicFilter: 's/#', ...limits, messagesMax: 300 }], 'streams');
  const [stream] = small.all as [(typeof small.all)[number]];
  const journal = new CountingJournal();
  const open = () => gatedStores(journal, clock, undefined, small);
  const from = (store: StreamStore, number: number) => {
    const message = messageOf({ topic: 's/a', payload: Buffer.from('xxxx'), id: messageId(number) });
    const origin = { source: 'p/0', number };
    return store.append('t', stream, message, {
      key: undefined,
      nowMs: NOW_MS + number,
      isForced: false,
      origin,
    });
  };
  const before = open();
  // Trimmed at 601 and at 902: 603 is the oldest.
  for (let number = 1; number <= 1_100; number += 1) from(before.streamStore, number);
  before.flush();
  expect([...journal.scan('g')]).toHaveLength(2);
  const { streamStore } = open();
  const range = (store: StreamStore) =>
    [1, 603, 604].map((number) => store.firstKept('t', stream, tailOf(store), number, NOW_MS));
  expect(range(streamStore)).toEqual(range(before.streamStore));
  expect(streamStore.figures('t', stream)).toEqual(before.streamStore.figures('t', stream));
  for (const tsMs of [700, 801, 900].map((number) => NOW_MS + number))
    expect(streamStore.since('t', stream, tailOf(streamStore), tsMs, NOW_MS + 1_100)).toEqual(
      before.streamStore.since('t', stream, tailOf(before.streamStore), tsMs, NOW_MS + 1_100),
    );
  expect(from(streamStore, 1_000)).toBe('repeated');
  expect(from(streamStore, 1_100)).toMatchObject({ isFound: true });
  // Everything of a topic leaves with it.
  const later = { now: () => NOW_MS + 10 * 86_400_000 };
  const last = gatedStores(journal, later, undefined, small);
  for (let count = 0; count < 3; count += 1) {
    const message = messageOf({ topic: 's/b', id: messageId(2_000 + count) });
    last.streamStore.append('t', stream, message, { key: undefined, nowMs: later.now(), isForced: false });
  }
  last.flush();
  expect([...journal.scan('g')]).toEqual([]);
  expect([...journal.scan('e')]).toHaveLength(3);
});

it.each([
  ['another stream has the topic, with a snapshot', { snapshot: true }, upTo(600)],
  ['no stream has it any more', { topicFilter: 'other' }, []],
])('leaves no index behind where %s', (_title, fields, kept) => {
  const journal = new MapJournal();
  const before = gatedStores(journal, clock, undefined, streams);
  for (let number = 1; number <= 600; number += 1) append(before.streamStore, number);
  before.flush();
  const others = readStreams([{ name: 's', topicFilter: 's/#', ...limits, ...fields }], 'streams');
  gatedStores(journal, clock, undefined, others).flush();
  expect([...journal.scan('g')]).toEqual([]);
  expect([...journal.scan('e')]).toHaveLength(kept.length);
});

it.each([
  ['trimmed', 2_001, 0],
  ['forgotten', 2_000, 10 * 86_400_000],
])('is whole when a crash has interrupted the writes by which it is %s', (_title, last, laterMs) => {
  const small = readStreams([{ name: 's', topicFilter: 's/#', ...limits, messagesMax: 1_000 }], 'streams');
  const [stream] = small.all as [(typeof small.all)[number]];
  const journal = new MapJournal();
  const before = gatedStores(journal, clock, undefined, small);
  for (let number = 1; number < last; number += 1) append(before.streamStore, number, stream, 4);
  before.flush();
  const stood = new Map(journal.records);
  const writes: (readonly [string, Uint8Array | undefined])[] = [];
  journal.commit = (operations) => void writes.push(...operations);
  if (laterMs === 0) append(before.streamStore, last, stream, 4);
  for (let number = 1; laterMs > 0 && number <= 3; number += 1) {
    const message = messageOf({ topic: 's/b', id: messageId(9_000 + number) });
    const options = { key: undefined, nowMs: NOW_MS + laterMs, isForced: false };
    before.streamStore.append('t', stream, message, options);
  }
  before.flush();
  expect(writes.length).toBeGreaterThan(1_000);
  for (let count = 0; count <= writes.length; count += 97) {
    const crashed = new MapJournal();
    for (const record of stood) crashed.records.set(...record);
    crashed.commit(new Map(writes.slice(0, count)));
    const { streamStore } = gatedStores(crashed, clock, undefined, small);
    const tail = tailOf(streamStore);
    const first = streamStore.firstKept('t', stream, tail, 1, NOW_MS) as number;
    expect(readAll(streamStore, first - 1)).toEqual(upTo(tail.last, first));
    expect([0, last - 1, last]).toContain(tail.last);
    // Never a part of it.
    expect(['lost', upTo(tail.last)]).toContainEqual(readAll(streamStore, 0));
  }
});
