import type { Packet, UserProperties } from '@apus/mqtt';
import { MemoryStreams } from '@apus/store-memory';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../test/support/runs.ts';
import { readStreams } from '../src/index.ts';
import { FakeDoor, type FakeLink } from './support/fake-door.ts';
import { flowsRun, HeldReads } from './support/held-reads.ts';

const TOPIC = 's/a';

/** A reader of one topic over a store whose answers wait for the test, and a publisher that waits for nothing. */
class Seam {
  readonly reads: HeldReads;
  readonly #door: FakeDoor;
  readonly #reader: FakeLink;
  readonly #publisher: FakeLink;
  readonly #seen: number[] = [];
  published = 0;
  /** A door handles the events of one link in turn. */
  #turn: Promise<unknown> = Promise.resolve();

  static async open(): Promise<Seam> {
    const declared = readStreams([{ name: 's', topicFilter: 's/#', messagesMax: 1000 }], 'streams');
    const reads = new HeldReads(new MemoryStreams());
    const door = new FakeDoor({ streams: { declared, store: reads.store } });
    const [reader, publisher] = [
      await door.connect({ clientId: 'r' }),
      await door.connect({ clientId: 'p' }),
    ];
    reader.take();
    return new Seam(reads, door, reader, publisher);
  }

  private constructor(reads: HeldReads, door: FakeDoor, reader: FakeLink, publisher: FakeLink) {
    this.reads = reads;
    this.#door = door;
    this.#reader = reader;
    this.#publisher = publisher;
  }

  subscribe(userProperties: UserProperties): void {
    this.#inTurn(() => this.#door.subscribe(this.#reader, TOPIC, 0, { properties: { userProperties } }));
  }

  async publish(count = 1): Promise<void> {
    for (let left = count; left > 0; left -= 1) {
      this.published += 1;
      await this.#door.publish(this.#publisher, TOPIC, String(this.published));
    }
  }

  /** The link is full; with `true` it has room again, and the door says so. */
  setReady(isReady: boolean): void {
    this.#reader.isReady = isReady;
    if (isReady) this.#inTurn(async () => await this.#door.broker.drain(this.#reader));
  }

  /** The numbers of all messages so far, as the client has seen them. */
  seen(): readonly number[] {
    for (const packet of this.#reader.take())
      if (packet.type === 'publish') this.#seen.push(numberOf(packet));
    return this.#seen;
  }

  async answerAll(): Promise<void> {
    await flowsRun();
    while (this.reads.isWaiting) await this.reads.answer();
    await this.#turn;
  }

  #inTurn(does: () => Promise<void>): void {
    this.#turn = this.#turn.then(does);
  }
}

function numberOf(packet: Packet & { type: 'publish' }): number {
  const position = packet.properties.userProperties?.find(([name]) => name === 'stream-position')?.[1];
  return Number(position?.split('-')[1]);
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

describe('A reader of a stream whose history takes time to read', () => {
  it('is sent no live message before the history in front of it, though its link is ready', async () => {
    const seam = await Seam.open();
    await seam.publish(3);
    seam.subscribe([['rewind', '3']]);
    await flowsRun();
    await seam.reads.answer(); // the tail
    await seam.publish();
    expect(seam.seen()).toEqual([]);
    await seam.reads.answer();
    expect(seam.seen()).toEqual([1, 2, 3]);
    await seam.answerAll();
    await seam.publish();
    expect(seam.seen()).toEqual(upTo(5));
  });

  it('is sent messages that are published while the store reads the end of the log', async () => {
    const seam = await Seam.open();
    await seam.publish(1);
    seam.subscribe([['rewind', '1']]);
    await flowsRun();
    await seam.publish(2);
    await seam.answerAll();
    await seam.publish();
    expect(seam.seen()).toEqual(upTo(4));
  });

  it('is live again only behind everything that was held back while it caught up', async () => {
    const seam = await Seam.open();
    seam.subscribe([['stream-offset', 'latest']]);
    await seam.answerAll();
    seam.setReady(false);
    await seam.publish(2);
    seam.setReady(true);
    await flowsRun();
    // Each page is read before the next message comes.
    for (let page = 0; page < 5; page += 1) {
      await seam.publish();
      await seam.reads.answer();
    }
    await seam.answerAll();
    await seam.publish();
    expect(seam.seen()).toEqual(upTo(8));
  });

  it('has every message once and in order, whenever answers come and its link is full', async () => {
    const step = fc.constantFrom('publish', 'publish', 'publish', 'answer', 'answer', 'full', 'room');
    const history = fc.record({ before: fc.nat(40), steps: fc.array(step, { maxLength: 60 }) });
    await fc.assert(
      fc.asyncProperty(history, async ({ before, steps }) => {
        const seam = await Seam.open();
        await seam.publish(before);
        seam.subscribe([['stream-offset', 'earliest']]);
        await flowsRun();
        for (const each of steps) {
          if (each === 'publish') await seam.publish();
          else if (each === 'answer') await seam.reads.answer();
          else seam.setReady(each === 'room');
          const seen = seam.seen();
          expect(seen).toEqual(upTo(seen.length));
        }
        seam.setReady(true);
        await seam.answerAll();
        expect(seam.seen()).toEqual(upTo(seam.published));
      }),
      { numRuns: runs(100) },
    );
  });
});
