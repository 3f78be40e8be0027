import { expect, test } from 'vitest';
import type { NewMessage } from '../../src/engine/host/batch-builder.ts';
import type { KeptRecord, KeptStore } from '../../src/engine/host/kept-store.ts';
import { MessageKeeper } from '../../src/engine/host/message-keeper.ts';
import { KEPT_BYTES_MAX, KEPT_MESSAGES_MAX, KEPT_RECORD_MESSAGES } from '../../src/engine/limits.ts';
import { BoundedMessageLog } from '../../src/engine/log/message-log.ts';
import { readMessages } from '../../src/engine/page/read-batch.ts';
import type { KeepTrouble } from '../../src/engine/types.ts';

const MESSAGE: NewMessage = {
  isPublished: false,
  atMs: 1,
  topic: 'a',
  qos: 0,
  retain: false,
  dup: false,
  packetId: 0,
  properties: undefined,
  subscriptionIds: [],
  payloadOffset: 0,
  latencyMs: undefined,
  missingBefore: 0,
};

class MemoryStore implements KeptStore {
  readonly records = new Map<number, KeptRecord>();
  writes = 0;
  isClaimed = false;
  fails: Error | undefined;

  claim(): Promise<boolean> {
    return Promise.resolve(!this.isClaimed);
  }

  read(): Promise<readonly KeptRecord[]> {
    const ascending = [...this.records.values()].sort((a, b) => a.number - b.number);
    return Promise.resolve(structuredClone(ascending));
  }

  write(record: KeptRecord, removed: readonly number[]): Promise<void> {
    if (this.fails !== undefined) return Promise.reject(this.fails);
    this.writes += 1;
    this.records.set(record.number, structuredClone(record));
    for (const number of removed) this.records.delete(number);
    return Promise.resolve();
  }

  forget(): Promise<void> {
    this.records.clear();
    return Promise.resolve();
  }

  /** The messages that are stored. */
  get messages(): number {
    return [...this.records.values()].reduce((sum, { batch }) => sum + readMessages('c', batch).length, 0);
  }
}

/** An open page: its messages, and timers that fire when the test says so. */
async function visit(store: KeptStore) {
  const log = new BoundedMessageLog(undefined, (callback) => callback());
  const timers: (() => void)[] = [];
  const troubles: KeepTrouble[] = [];
  const keeper = new MessageKeeper({
    id: 'c',
    store,
    now: () => 5,
    later: (callback) => {
      timers.push(callback);
      return () => {};
    },
    show: (batch) => log.append(readMessages('c', batch), batch.marks, batch.outcomes),
    trouble: (kind) => troubles.push(kind),
  });
  await keeper.start();
  const come = (text: string, changes: Partial<NewMessage> = {}): void =>
    keeper.message({ ...MESSAGE, ...changes }, new TextEncoder().encode(text));
  /** A second later. */
  const write = async (): Promise<void> => {
    for (const timer of timers.splice(0)) timer();
    await keeper.written;
  };
  const shown = (): (string | undefined)[] =>
    Array.from({ length: log.size }, (_, index) => log.at(log.firstSequence + index)?.text());
  return { keeper, log, come, write, shown, troubles };
}

test('kept messages are shown again at the next visit, and where they end', async () => {
  const store = new MemoryStore();
  const first = await visit(store);
  first.come('one', { atMs: 2 });
  first.come('two', { atMs: 3 });
  await first.write();
  const second = await visit(store);
  expect(second.shown()).toEqual(['one', 'two']);
  expect(second.log.marks).toEqual([{ sequence: 2, mark: { kind: 'reloaded', fromMs: 3, atMs: 5 } }]);
  second.come('three');
  await second.write();
  const third = await visit(store);
  expect(third.shown()).toEqual(['one', 'two', 'three']);
  expect(third.log.marks.map(({ sequence }) => sequence)).toEqual([2, 3]);
});

test('at the first visit there is nothing to be shown, and no mark', async () => {
  const { log, shown } = await visit(new MemoryStore());
  expect(shown()).toEqual([]);
  expect(log.marks).toEqual([]);
});

test('a published message keeps its fate, and one without an answer is lost', async () => {
  const store = new MemoryStore();
  const { come, keeper, write } = await visit(store);
  come('answered', { isPublished: true, qos: 1, packetId: 1 });
  come('open', { isPublished: true, qos: 1, packetId: 2 });
  await write();
  keeper.outcome({ packetId: 1, state: 'acknowledged', code: 0, detail: '' });
  await write();
  const { log } = await visit(store);
  expect([log.at(0)?.fate?.state, log.at(1)?.fate?.state]).toEqual(['acknowledged', 'lost']);
});

test('many messages are one write', async () => {
  const store = new MemoryStore();
  const { come, write } = await visit(store);
  for (let count = 0; count < KEPT_RECORD_MESSAGES * 3; count += 1) come('x');
  await write();
  expect(store.writes).toBe(1);
  expect(store.messages).toBe(KEPT_RECORD_MESSAGES * 3);
});

test('a record that is not full is written anew, so that slow messages do not make many of them', async () => {
  const store = new MemoryStore();
  const { come, write } = await visit(store);
  for (let count = 0; count < 5; count += 1) {
    come('x');
    await write();
  }
  expect(store.records.size).toBe(1);
  expect(store.messages).toBe(5);
});

test('of more messages than are kept the oldest go', async () => {
  const store = new MemoryStore();
  const { come, write } = await visit(store);
  const seconds = KEPT_MESSAGES_MAX / KEPT_RECORD_MESSAGES + 2;
  for (let second = 0; second < seconds; second += 1) {
    for (let count = 0; count < KEPT_RECORD_MESSAGES; count += 1) come(String(second));
    await write();
  }
  expect(store.messages).toBe(KEPT_MESSAGES_MAX);
  const { shown } = await visit(store);
  expect(shown()[0]).toBe('2');
  expect(shown().at(-1)).toBe(String(seconds - 1));
});

test('of more bytes than are kept the oldest go, also within one second', async () => {
  const store = new MemoryStore();
  const { come, write } = await visit(store);
  const third = 'x'.repeat(KEPT_BYTES_MAX / 3);
  come(third);
  await write();
  for (const name of ['b', 'c', 'd', 'e']) come(`${name}${third}`);
  await write();
  const bytes = [...store.records.values()].reduce((sum, { batch }) => sum + batch.bytes.byteLength, 0);
  expect(bytes).toBeLessThanOrEqual(KEPT_BYTES_MAX);
  expect((await visit(store)).shown().at(-1)?.slice(0, 1)).toBe('e');
});

test('a message that is larger than all that is kept is left out', async () => {
  const store = new MemoryStore();
  const { come, write } = await visit(store);
  come('small');
  come('x'.repeat(KEPT_BYTES_MAX + 1));
  await write();
  expect((await visit(store)).shown()).toEqual(['small']);
});

test('forgotten messages do not come back; later ones are kept', async () => {
  const store = new MemoryStore();
  const { come, keeper, write } = await visit(store);
  come('before');
  await write();
  come('not yet written');
  await keeper.forget();
  expect(store.messages).toBe(0);
  come('after');
  await write();
  expect((await visit(store)).shown()).toEqual(['after']);
});

test('turned off, it keeps nothing, and kept messages are gone', async () => {
  const store = new MemoryStore();
  const { come, keeper, write } = await visit(store);
  come('before');
  await write();
  await keeper.stop();
  come('after');
  await write();
  expect(store.messages).toBe(0);
  await keeper.start();
  come('again');
  await write();
  expect((await visit(store)).shown()).toEqual(['again']);
});

test('of two tabs one keeps the messages of a connection', async () => {
  const store = new MemoryStore();
  store.isClaimed = true;
  const { come, write } = await visit(store);
  come('x');
  await write();
  expect(store.writes).toBe(0);
});

test.each([
  ['QuotaExceededError', 'full'],
  ['InvalidStateError', 'unavailable'],
  ['VersionError', 'outdated'],
])('after %s it says “%s” once, and goes on without', async (name, trouble) => {
  const store = new MemoryStore();
  const { come, write, troubles } = await visit(store);
  store.fails = new DOMException('no', name);
  come('x');
  await write();
  come('y');
  await write();
  expect(troubles).toEqual([trouble]);
});
