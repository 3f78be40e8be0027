import { serialize } from 'node:v8';
import type { Packet, UserProperties } from '@apus/mqtt';
import { MemoryStreams } from '@apus/store-memory';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../test/support/runs.ts';
import { readStreams, type StreamStore } from '../src/index.ts';
import { MESSAGES_IN_A_TURN_MAX } from '../src/streams/read-on.ts';
import { READERS_PER_CONNECTION_MAX, type StreamReader } from '../src/streams/reader.ts';
import { FakeDelays } from './support/fake-delays.ts';
import { FakeDoor, type FakeDoorOptions, FakeLink } from './support/fake-door.ts';
import { flowsRun, HeldReads } from './support/held-reads.ts';

/** Values that a reader is sent at a time. */
const PAGE_LENGTH = 32;
const CONFLATED: UserProperties = [['conflate-ms', '100']];

/** A client that reads a page, and then nothing until it is told to read on. */
class PageLink extends FakeLink {
  override send(...args: Parameters<FakeLink['send']>): void {
    super.send(...args);
    if (args[0].type === 'publish') this.isReady = false;
  }
}

/** A message as a client sees it. */
interface Seen {
  readonly number: number;
  readonly key: string;
  readonly text: string;
  readonly kind: string | undefined;
}

function seenIn(packets: readonly Packet[]): Seen[] {
  return packets.flatMap((packet) => {
    if (packet.type !== 'publish') return [];
    const said = new Map(packet.properties.userProperties);
    return [
      {
        number: Number(said.get('stream-position')?.split('-')[1]),
        key: said.get('key') ?? '',
        text: Buffer.from(packet.payload).toString(),
        kind: said.get('stream-kind'),
      },
    ];
  });
}

const inBrief = ({ number, key, text, kind = 'live' }: Seen) => `${number} ${key}=${text} ${kind}`;

interface WorldOptions extends Pick<FakeDoorOptions, 'conditions'> {
  readonly keepSeconds?: number;
  readonly messagesMax?: number;
  readonly wrap?: (store: StreamStore) => StreamStore;
}

async function world(options: WorldOptions = {}) {
  const { keepSeconds = 60, messagesMax = 1000, wrap = (store) => store, ...ports } = options;
  const declared = readStreams(
    [{ name: 's', topicFilter: 's/#', messagesMax, keepSeconds, key: 'k', snapshot: true }],
    'streams',
  );
  const log = new MemoryStreams();
  const door = new FakeDoor({
    streams: { declared, store: wrap(log) },
    delays: new FakeDelays(),
    ...ports,
    openLink: (id) => new PageLink(id),
  });
  const [reader, publisher] = [await door.connect({ clientId: 'r' }), await door.connect({ clientId: 'p' })];
  const publish = async (key: string, text: string, topic = 's/a') =>
    await door.publish(publisher, topic, text, { properties: { userProperties: [['k', key]] } });
  const fill = async (count: number, topic?: string) => {
    for (let number = 1; number <= count; number += 1) await publish(`k${number}`, 'first', topic);
  };
  const subscribe = async (topicFilter = '$stream/s/s/a', userProperties: UserProperties = []) =>
    await door.subscribe(reader, topicFilter, 0, { properties: { userProperties } });
  /** The next page, or nothing more. */
  const readOn = async (): Promise<Packet[]> => {
    reader.isReady = true;
    await door.broker.drain(reader);
    return reader.take();
  };
  const readAll = async (): Promise<Seen[]> => {
    const all = seenIn(reader.take());
    for (;;) {
      const page = seenIn(await readOn());
      if (page.length === 0) return all;
      all.push(...page);
    }
  };
  return { door, log, reader, publish, fill, subscribe, readOn, readAll };
}

describe('Last values that wait for a client', () => {
  it('are kept by no reader, however many it has and they are [SEC-GROWTH-9]', async () => {
    const given: number[] = [];
    const wrap = (store: StreamStore) => {
      const lastValues = store.lastValues.bind(store);
      return Object.assign(store, {
        lastValues: (...call: Parameters<typeof lastValues>) => {
          const page = lastValues(...call);
          given.push((page as readonly unknown[]).length);
          return page;
        },
      });
    };
    const { reader, fill, subscribe } = await world({ wrap });
    const names = Array.from({ length: READERS_PER_CONNECTION_MAX }, (_, index) => `s/${100 + index}`);
    // Numbers that take as many bytes.
    for (const [index, name] of names.entries()) await fill(index % 2 === 0 ? 64 : 127, name);
    reader.isReady = false;
    for (const name of names) await subscribe(`$stream/s/${name}`);
    expect(seenIn(reader.take())).toEqual([]);
    expect(given).toEqual(names.map(() => 1));
    const held = [...reader.readers.values()].map((each) => [...(each.reader as StreamReader).behind]);
    expect(held.map(({ length }) => length)).toEqual(names.map(() => 1));
    expect(new Set(held.map((cursors) => serialize(cursors).length)).size).toBe(1);
  });

  it('come by pages, in the order of their numbers and each once, and then live messages', async () => {
    const { fill, subscribe, reader, readOn, publish } = await world();
    await fill(2 * PAGE_LENGTH + 5);
    await subscribe();
    const pages = [seenIn(reader.take())];
    for (let count = 0; count < 3; count += 1) pages.push(seenIn(await readOn()));
    expect(pages.map(({ length }) => length)).toEqual([PAGE_LENGTH, PAGE_LENGTH, 5, 0]);
    expect(pages.flat().map(inBrief)).toEqual(
      Array.from({ length: 2 * PAGE_LENGTH + 5 }, (_, index) => `${index + 1} k${index + 1}=first snapshot`),
    );
    await publish('k1', 'next');
    expect(seenIn(reader.take()).map(inBrief)).toEqual([`${2 * PAGE_LENGTH + 6} k1=next live`]);
  });

  it.each([
    ['', MESSAGES_IN_A_TURN_MAX, 1],
    [', shorter ones where a condition takes long [SEC-WORK-11]', 64, MESSAGES_IN_A_TURN_MAX / 64],
  ])('come in several turns, so that the process handles packets of others meanwhile%s', async (...row) => {
    const [, most, deliveries] = row;
    const conditions = {
      spent: 0,
      check: () => undefined,
      fits() {
        conditions.spent += deliveries - 1;
        return true;
      },
    };
    const { fill, subscribe, publish, reader, door } = await world({ conditions });
    await fill(2 * most + 5);
    let turns = 0;
    const takeTurn = () => {
      turns += 1;
    };
    Object.assign(reader, { takeTurn, send: FakeLink.prototype.send });
    await subscribe('$stream/s/s/a', [['where', 'payload.t > 1']]);
    const seen = [seenIn(reader.take())];
    await publish('k1', 'next');
    for (; turns > 0; turns -= 1) {
      await door.broker.drain(reader);
      seen.push(seenIn(reader.take()));
    }
    expect(seen.map(({ length }) => length)).toEqual([most, most, 6]);
    expect(seen.flat().map(({ number }) => number)).toEqual(
      Array.from({ length: 2 * most + 6 }, (_, index) => index + 1),
    );
  });

  it('that change or go between two pages come once, from the history behind the others', async () => {
    const { fill, subscribe, publish, readAll } = await world();
    await fill(PAGE_LENGTH + 4);
    await subscribe();
    await publish('k1', 'of a page that was sent');
    await publish(`k${PAGE_LENGTH + 1}`, 'of a page that comes');
    await publish(`k${PAGE_LENGTH + 3}`, '');
    const behind = (await readAll()).slice(PAGE_LENGTH).map(inBrief);
    expect(behind).toEqual([
      '34 k34=first snapshot',
      '36 k36=first snapshot',
      '37 k1=of a page that was sent live',
      '38 k33=of a page that comes live',
      '39 k35= live',
    ]);
  });

  it('are the newest ones of each key for a conflated reader, which leaves out all others', async () => {
    const { fill, subscribe, publish, readAll } = await world();
    await fill(PAGE_LENGTH + 4);
    await subscribe('$stream/s/s/a', CONFLATED);
    await publish(`k${PAGE_LENGTH + 1}`, 'replaced');
    await publish(`k${PAGE_LENGTH + 1}`, 'newest');
    await publish(`k${PAGE_LENGTH + 2}`, 'newest');
    await publish(`k${PAGE_LENGTH + 3}`, '');
    const behind = (await readAll()).slice(PAGE_LENGTH).map(inBrief);
    expect(behind).toEqual([
      '36 k36=first snapshot',
      '38 k33=newest live',
      '39 k34=newest live',
      '40 k35= live',
    ]);
  });

  it('end with 0x97 when what has replaced them is not kept any more', async () => {
    const { fill, subscribe, publish, readOn, reader } = await world({ messagesMax: 5 });
    await fill(PAGE_LENGTH + 4);
    await subscribe();
    expect(seenIn(reader.take())).toHaveLength(PAGE_LENGTH);
    for (let count = 0; count < 20; count += 1) await publish(`k${PAGE_LENGTH + 1}`, `${count}`);
    expect(seenIn(await readOn())).toHaveLength(3);
    expect(await readOn()).toMatchObject([{ type: 'disconnect', reasonCode: 0x97 }]);
  });

  it('end with 0x97 when the epoch of their topic has ended', async () => {
    const { log, reader, fill, subscribe, readOn } = await world();
    await fill(PAGE_LENGTH + 4);
    await subscribe();
    expect(seenIn(reader.take())).toHaveLength(PAGE_LENGTH);
    log.newEpoch('default', 's/a');
    expect(await readOn()).toMatchObject([{ type: 'disconnect', reasonCode: 0x97 }]);
  });

  it('end with 0x97 when their topic was forgotten and has begun anew', async () => {
    const { door, fill, subscribe, publish, readOn, reader } = await world();
    await publish('a', 'first');
    await subscribe();
    expect(seenIn(reader.take())).toHaveLength(1);
    for (const text of ['second', '']) await publish('a', text);
    await door.advance(121);
    await fill(3, 's/b');
    await publish('a', 'anew');
    expect(await readOn()).toMatchObject([{ type: 'disconnect', reasonCode: 0x97 }]);
  });

  it('leave a client with the values that there are, whenever they change, answers come and it reads', async () => {
    const key = fc.constantFrom('a', 'b', 'c');
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ does: fc.constant('put' as const), key }) },
      { weight: 1, arbitrary: fc.record({ does: fc.constant('remove' as const), key }) },
      { weight: 3, arbitrary: fc.record({ does: fc.constant('answer' as const) }) },
      { weight: 2, arbitrary: fc.record({ does: fc.constant('read' as const) }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.nat(40), fc.array(step, { maxLength: 40 }), async (before, steps) => {
        let reads: HeldReads | undefined;
        const wrap = (store: StreamStore) => {
          reads = new HeldReads(store, ['read', 'tail', 'lastValues']);
          return reads.store;
        };
        const { door, reader, publish, fill, subscribe } = await world({ wrap });
        await fill(before);
        for (const each of ['c', 'b', 'a']) await publish(each, 'first');
        const actual = new Map(['a', 'b', 'c'].map((each) => [each, 'first']));
        for (let number = 1; number <= before; number += 1) actual.set(`k${number}`, 'first');
        const seen: Seen[] = [];
        let turn: Promise<unknown> = subscribe();
        const look = () => seen.push(...seenIn(reader.take()));
        const readOn = () => {
          reader.isReady = true;
          turn = turn.then(async () => await door.broker.drain(reader));
        };
        for (const [index, each] of steps.entries()) {
          if (each.does === 'put') {
            actual.set(each.key, `${index}`);
            await publish(each.key, `${index}`);
          } else if (each.does === 'remove') {
            actual.delete(each.key);
            await publish(each.key, '');
          } else if (each.does === 'answer') await reads?.answer();
          else readOn();
          look();
        }
        for (let count = -1; count < seen.length; ) {
          count = seen.length;
          readOn();
          await flowsRun();
          while (reads?.isWaiting) await reads.answer();
          await turn;
          look();
        }
        const numbers = seen.map(({ number }) => number);
        expect(numbers).toEqual([...new Set(numbers)].sort((one, other) => one - other));
        const known = new Map<string, string>();
        for (const { key: of, text } of seen) {
          if (text === '') known.delete(of);
          else known.set(of, text);
        }
        expect(known).toEqual(actual);
      }),
      { numRuns: runs(200) },
    );
  });
});
