import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { readStreams, type StreamEntry, type StreamTail } from '@apus/broker';
import { describe, expect, it } from 'vitest';
import { numberedMessage } from '../../broker/contract/samples.ts';
import { createDiskStores, type DiskStores } from '../src/index.ts';
import { temporaryDirectory } from './support/directory.ts';

const NOW_MS = 1_700_000_000_000;
const clock = { now: () => NOW_MS };
const streams = readStreams([{ name: 's', topicFilter: 's/#', messagesMax: 4, key: 'k' }], 'streams');
const [stream] = streams.all as [(typeof streams.all)[number]];
const ALL = { messages: 100, bytes: Number.POSITIVE_INFINITY };

const open = (directory: string, declared = streams) =>
  createDiskStores({ directory, clock, streams: declared });

async function append({ streamStore }: DiskStores, number: number, topic = 's/a'): Promise<StreamEntry> {
  const options = { key: `k${number}`, nowMs: NOW_MS, isForced: false };
  const appended = streamStore.append('t', stream, numberedMessage(number, { topic }), options);
  if (typeof appended === 'string') throw new Error(appended);
  await appended.written;
  return appended.entry;
}

const tailOf = ({ streamStore }: DiskStores) => streamStore.tail('t', stream, 's/a', NOW_MS) as StreamTail;

function payloads({ streamStore }: DiskStores): string[] {
  const tail = { topic: 's/a', ...(streamStore.tail('t', stream, 's/a', NOW_MS) as StreamTail) };
  const { epoch } = tail;
  const firstKept = streamStore.firstKept('t', stream, tail, 1, NOW_MS);
  const entries = streamStore.read('t', 's/a', epoch, firstKept - 1, ALL) as StreamEntry[];
  return entries.map(({ number, key, message }) => `${number} ${key} ${Buffer.from(message.payload)}`);
}

describe('streams on the disk', () => {
  it('go on where they were when the store is closed and opened again', async () => {
    const directory = temporaryDirectory();
    const before = await open(directory);
    for (let number = 1; number <= 12; number += 1) await append(before, number);
    const tail = tailOf(before);
    await before.close();
    const after = await open(directory);
    expect(tailOf(after)).toEqual(tail);
    expect(payloads(after)).toEqual(['9 k9 9', '10 k10 10', '11 k11 11', '12 k12 12']);
    expect((await append(after, 13)).number).toBe(13);
    await after.close();
  });

  it('know what a source hands over again when opened again, also when they do not keep it', async () => {
    const from = ({ streamStore }: DiskStores, source: string, number: number) => {
      const options = { key: 'k', nowMs: NOW_MS, isForced: false, origin: { source, number } };
      const appended = streamStore.append('t', stream, numberedMessage(1, { topic: 's/a' }), options);
      return typeof appended === 'string' ? appended : [appended.entry.number, appended.isFound === true];
    };
    const directory = temporaryDirectory();
    const before = await open(directory);
    expect(from(before, 'early', 5)).toEqual([1, false]);
    for (let number = 2; number <= 12; number += 1) await append(before, number);
    expect(from(before, 'late', 5)).toEqual([13, false]);
    await before.close();
    const after = await open(directory);
    expect(from(after, 'early', 5)).toBe('repeated');
    expect(from(after, 'late', 5)).toEqual([13, true]);
    expect(from(after, 'late', 4)).toBe('repeated');
    expect(from(after, 'late', 6)).toEqual([14, false]);
    await after.close();
  });

  it('know which publisher opened a topic when opened again [SEC-POOL-7]', async () => {
    const declared = readStreams([{ name: 's', topicFilter: 's/#', topicsMax: 4 }], 'streams');
    const [small] = declared.all as [(typeof declared.all)[number]];
    const isOpened = ({ streamStore }: DiskStores, topic: string, holder: string) =>
      streamStore.tail('t', small, topic, NOW_MS, holder) !== 'full';
    const directory = temporaryDirectory();
    const before = await open(directory, declared);
    expect(['s/1', 's/2', 's/3'].map((topic) => isOpened(before, topic, 'greedy'))).toEqual([
      true,
      true,
      false,
    ]);
    await before.close();
    const after = await open(directory, declared);
    expect(isOpened(after, 's/3', 'greedy')).toBe(false);
    expect(isOpened(after, 's/3', 'honest')).toBe(true);
    await after.close();
  });

  it('have the values of a snapshot that are older than history, and what is left of it, when opened again', async () => {
    const declared = readStreams(
      [{ name: 's', topicFilter: 's/#', messagesMax: 2, snapshot: true }],
      'streams',
    );
    const [snapshot] = declared.all as [(typeof declared.all)[number]];
    const put = async ({ streamStore }: DiskStores, key: string, number: number) => {
      const options = { key, nowMs: NOW_MS, isForced: false };
      const appended = streamStore.append('t', snapshot, numberedMessage(number, { topic: 's/a' }), options);
      if (typeof appended === 'string') throw new Error(appended);
      await appended.written;
    };
    const values = ({ streamStore }: DiskStores) => {
      const tail = { topic: 's/a', ...tailOf({ streamStore } as DiskStores) };
      const found = streamStore.lastValues('t', snapshot, tail, 0, ALL, NOW_MS);
      return found === 'lost' ? found : found.map(({ key, number }) => `${key} ${number}`);
    };
    const directory = temporaryDirectory();
    const before = await open(directory, declared);
    for (const [index, key] of ['a', 'b', 'a', 'c', 'd', 'd', 'd', 'd', 'd'].entries())
      await put(before, key, index + 1);
    await before.close();
    const after = await open(directory, declared);
    expect(values(after)).toEqual(['b 2', 'a 3', 'c 4', 'd 9']);
    expect(payloads(after)).toEqual(['8 d 8', '9 d 9']);
    await put(after, 'b', 10);
    await after.close();
    const again = await open(directory, declared);
    expect(values(again)).toEqual(['a 3', 'c 4', 'd 9', 'b 10']);
    await again.close();
    // Without a snapshot its old values are removed, and do not come back.
    await (await open(directory)).close();
    const last = await open(directory, declared);
    expect(values(last)).toEqual(['d 9', 'b 10']);
    expect(payloads(last)).toEqual(['9 d 9', '10 b 10']);
    await last.close();
  });

  it('have everything that was acknowledged after a crash, and another epoch', async () => {
    const directory = temporaryDirectory();
    const before = await open(directory);
    await append(before, 1);
    const { epoch } = await append(before, 2);
    // Copies the file as it is now, as a crash would leave it.
    const copy = temporaryDirectory();
    cpSync(join(directory, 'apus.mdb'), join(copy, 'apus.mdb'));
    await before.close();
    const crashed = await open(copy);
    expect(payloads(crashed)).toEqual(['1 k1 1', '2 k2 2']);
    const tail = tailOf(crashed);
    expect(tail.epoch).not.toBe(epoch);
    expect(crashed.streamStore.read('t', 's/a', epoch, 1, ALL)).toBe('lost');
    expect(await append(crashed, 3)).toMatchObject({ number: 3, epoch: tail.epoch });
    await crashed.close();
    // The new epoch is on the disk.
    const again = await open(copy);
    expect(tailOf(again).epoch).toBe(tail.epoch);
    await again.close();
  });

  it('are removed when no stream covers their topics any more', async () => {
    const directory = temporaryDirectory();
    const before = await open(directory);
    await append(before, 1);
    await before.close();
    const without = await open(directory, readStreams([{ name: 'x', topicFilter: 'x' }], 'streams'));
    await without.close();
    const after = await open(directory);
    expect(tailOf(after).last).toBe(0);
    await after.close();
  });

  it('begin anew in another epoch after their history has been removed', async () => {
    const directory = temporaryDirectory();
    const before = await open(directory);
    const { epoch } = await append(before, 1);
    await before.close();
    await (await open(directory, readStreams([], 'streams'))).close();
    const after = await open(directory);
    expect((await append(after, 2)).epoch).not.toBe(epoch);
    await after.close();
  });
});
