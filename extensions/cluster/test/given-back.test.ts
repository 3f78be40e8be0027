import { messageOf } from '@apus/broker/samples';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { PublishFrame } from '../src/frames.ts';
import { FULL_RULES_LOOKED_MS, GIVEN_BACK_BYTES_MAX, GIVEN_BACK_MS_MAX } from '../src/limits.ts';
import {
  handleAll,
  Owner,
  Publishers,
  QUEUE,
  QUEUE_LENGTH,
  stage,
  textOf,
} from './support/ruled-processes.ts';

/** A twentieth of the queue. */
const PORTION = 5;

beforeEach(() => stage.begin());

function numberIn(text: string): number {
  return Number(text.split(' ')[1]);
}

function numbers(first: number, last: number): string[] {
  return Array.from({ length: last - first + 1 }, (_, index) => String(first + index));
}

describe('a message that a full queue of a rule has no room for', () => {
  it('waits for a limited time, and then its publisher is refused', async () => {
    const [owner, one] = [new Owner(), new Publishers('one')];
    owner.fill(QUEUE_LENGTH);
    one.publish('1');
    await handleAll();
    expect([one.taken, one.refused]).toEqual([[], []]);
    stage.clock.move(GIVEN_BACK_MS_MAX - 1);
    await handleAll();
    expect(one.refused).toEqual([]);
    stage.clock.move(1);
    await handleAll();
    expect([one.taken, one.refused, one.givenBack.bytes]).toEqual([[], ['1'], 0]);
    expect(stage.warnings).toMatchObject([
      { tenant: 't', filter: 'up/#', process: 'rules', lacking: 'time', count: 1 },
    ]);
    expect(owner.backlog.countsOf('t', 'up/#')).toEqual({ givenBack: 1, givenUp: 1 });
    // It does not come afterwards.
    owner.drain(QUEUE_LENGTH);
    await handleAll();
    expect([owner.queue, owner.held, one.full]).toEqual([[], [], []]);
  });

  it('waits within a limited number of bytes, and is refused at once beyond it', async () => {
    const [owner, one] = [new Owner(), new Publishers('one')];
    owner.fill(QUEUE_LENGTH);
    const half = 'x'.repeat(GIVEN_BACK_BYTES_MAX / 2 - 100);
    for (const name of ['a', 'b', 'c']) one.publish(name + half);
    await handleAll();
    expect(one.refused.map((text) => text[0])).toEqual(['c']);
    expect(one.givenBack.bytes).toBeLessThanOrEqual(GIVEN_BACK_BYTES_MAX);
    expect(stage.warnings).toMatchObject([{ lacking: 'bytes', count: 1 }]);
    owner.drain(QUEUE_LENGTH);
    await handleAll();
    expect(one.taken.map((text) => text[0])).toEqual(['a', 'b']);
  });

  it('comes behind those before it, and is overtaken by none, when there is room for a portion at a time', async () => {
    const [owner, one] = [new Owner(), new Publishers('one')];
    owner.fill(QUEUE_LENGTH - 6);
    for (const text of numbers(1, 30)) one.publish(text);
    await handleAll();
    // Newer ones that were on their way when the queue had room again.
    owner.drain(QUEUE_LENGTH - 10);
    for (const text of numbers(31, 40)) one.publish(text);
    await handleAll();
    for (let count = 0; count < 100; count += 1) {
      owner.drain(1);
      await handleAll();
    }
    expect(owner.left.filter((text) => /^\d+$/.test(text))).toEqual(numbers(1, 40));
    expect(one.taken.length).toBe(40);
    expect(one.full).toEqual([]);
  });

  it('is overtaken by none while the process still says that nothing of it waits', async () => {
    const [owner, one] = [new Owner(), new Publishers('one')];
    owner.fill(QUEUE_LENGTH);
    one.publish('1');
    await handleAll();
    // Sent while the first one waits, and given back when that one has been given up.
    one.publish('2');
    stage.clock.move(GIVEN_BACK_MS_MAX);
    owner.drain(17);
    one.publish('3');
    await handleAll();
    owner.drain(QUEUE_LENGTH);
    await handleAll();
    expect([one.refused, one.taken]).toEqual([['1'], ['2', '3']]);
    const arrived = [...owner.left, ...owner.queue.map(textOf)];
    expect(arrived.filter((text) => /^\d+$/.test(text))).toEqual(['2', '3']);
  });

  it('is sent again in a bounded portion, when the queue tells that it has room', async () => {
    const [owner, one] = [new Owner(), new Publishers('one')];
    owner.fill(QUEUE_LENGTH);
    for (const text of numbers(1, 60)) one.publish(text);
    await handleAll();
    expect(owner.queue.length).toBe(QUEUE_LENGTH);
    stage.wire.carried.length = 0;
    owner.drain(30);
    await handleAll();
    const portions: number[] = [];
    for (const what of stage.wire.carried) {
      if (what === 'rules again') portions.push(0);
      else if (/^one \d+$/.test(what)) portions[portions.length - 1] = (portions.at(-1) ?? 0) + 1;
    }
    expect(Math.max(...portions)).toBe(PORTION);
    // Up to nine tenths, with the portion that reaches them. None was sent in vain.
    expect(owner.queue.length).toBeLessThanOrEqual(0.95 * QUEUE_LENGTH);
    expect(owner.queue.length).toBeGreaterThanOrEqual(0.9 * QUEUE_LENGTH);
    expect(stage.wire.carried.filter((what) => what === 'rules later')).toEqual([]);
  });

  it('needs no clock to be sent again', async () => {
    const [owner, one] = [new Owner(), new Publishers('one')];
    owner.fill(QUEUE_LENGTH);
    one.publish('1');
    await handleAll();
    owner.drain(QUEUE_LENGTH);
    await handleAll();
    expect(one.taken).toEqual(['1']);
    // One that expired in the queue was told by nobody.
    owner.fill(QUEUE_LENGTH);
    one.publish('2');
    await handleAll();
    owner.queue.length = 0;
    stage.clock.move(FULL_RULES_LOOKED_MS);
    await handleAll();
    expect(one.taken).toEqual(['1', '2']);
  });

  it('has its turn beside those of other processes', async () => {
    const [owner, one, two] = [new Owner(), new Publishers('one'), new Publishers('two')];
    owner.fill(QUEUE_LENGTH);
    for (const text of numbers(1, 40)) one.publish(text);
    await handleAll();
    two.publish('other');
    await handleAll();
    owner.drain(25);
    await handleAll();
    expect(two.taken).toEqual(['other']);
    expect(one.taken.length).toBeLessThan(40);
  });

  it('goes before newer ones of all processes, which are refused meanwhile', async () => {
    const [owner, one, two] = [new Owner(), new Publishers('one'), new Publishers('two')];
    owner.fill(QUEUE_LENGTH);
    one.publish('1');
    await handleAll();
    expect([owner.held, one.full]).toEqual([[QUEUE], [QUEUE]]);
    owner.queue.length = 0;
    // It does not know yet that some wait, and there is room.
    two.publish('newer');
    await handleAll();
    expect(stage.wire.carried.filter((what) => what === 'rules later').length).toBe(2);
    expect(owner.queue.map(textOf)).toEqual(['1', 'newer']);
    expect([owner.held, one.full, two.full]).toEqual([[], [], []]);
  });

  it('at QoS 0 is no concern of a publisher', async () => {
    const [owner, one] = [new Owner(), new Publishers('one')];
    owner.fill(QUEUE_LENGTH);
    one.publish('0', 0);
    await handleAll();
    expect([one.taken, one.refused, one.givenBack.bytes]).toEqual([['0'], [], 0]);
  });

  it('is repeated at QoS 2 by a client that has come back, and sent once: both wait for the same answer', async () => {
    const [owner, one] = [new Owner(), new Publishers('one')];
    owner.fill(QUEUE_LENGTH);
    one.publish('2', 2);
    await handleAll();
    one.publish('2', 2);
    await handleAll();
    expect([one.taken, one.refused]).toEqual([[], []]);
    stage.clock.move(GIVEN_BACK_MS_MAX);
    await handleAll();
    expect([one.taken, one.refused]).toEqual([[], ['2', '2']]);
    expect(stage.wire.carried.filter((what) => what === 'one 2').length).toBe(1);
    // The next attempt begins anew.
    owner.drain(QUEUE_LENGTH);
    one.publish('2', 2);
    await handleAll();
    expect([one.taken, owner.queue.map(textOf)]).toEqual([['2'], ['2']]);
  });

  it('does not wait for a process that died in its turn', async () => {
    const [owner, one, two] = [new Owner(), new Publishers('one'), new Publishers('two')];
    owner.fill(QUEUE_LENGTH);
    one.publish('1');
    two.publish('2');
    await handleAll();
    // It does not answer any more.
    stage.wire.handlers.set('one', () => undefined);
    owner.drain(QUEUE_LENGTH);
    await handleAll();
    expect(two.taken).toEqual([]);
    owner.rules.forget('one');
    await handleAll();
    expect(two.taken).toEqual(['2']);
    expect(owner.held).toEqual([]);
  });
});

describe('messages of several processes for one queue', () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ publish: fc.nat(2), count: fc.integer({ min: 1, max: 30 }) }) },
    { weight: 3, arbitrary: fc.record({ drain: fc.integer({ min: 1, max: 60 }) }) },
    { weight: 1, arbitrary: fc.record({ wait: fc.integer({ min: 1, max: GIVEN_BACK_MS_MAX }) }) },
    { weight: 2, arbitrary: fc.constant('handleAll' as const) },
  );

  it('are all answered; those that are acknowledged arrive, in the order of each process, and no others do', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
        stage.begin();
        const owner = new Owner();
        const all = ['a', 'b', 'c'].map((name) => new Publishers(name));
        const sent = [0, 0, 0];
        for (const each of steps) {
          if (each === 'handleAll') await handleAll();
          else if ('drain' in each) owner.drain(each.drain);
          else if ('wait' in each) stage.clock.move(each.wait);
          else
            for (let count = 0; count < each.count; count += 1) {
              const number = (sent[each.publish] ?? 0) + 1;
              sent[each.publish] = number;
              all[each.publish]?.publish(`${each.publish} ${number}`);
            }
          expect(owner.queue.length).toBeLessThanOrEqual(0.95 * QUEUE_LENGTH);
        }
        await handleAll();
        stage.clock.move(GIVEN_BACK_MS_MAX);
        await handleAll();
        owner.drain(QUEUE_LENGTH);
        await handleAll();
        for (const [index, { taken, refused, full, givenBack }] of all.entries()) {
          expect(taken.length + refused.length).toBe(sent[index]);
          const arrived = owner.left.filter((text) => text.startsWith(`${index} `));
          expect(arrived).toEqual([...arrived].sort((one, other) => numberIn(one) - numberIn(other)));
          expect(new Set(arrived)).toEqual(new Set(taken));
          expect([full, givenBack.bytes]).toEqual([[], 0]);
        }
        expect(owner.held).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});

describe('messages for a dead process with a rule', () => {
  /** As `Relay` hands them over. */
  function inherit(heir: Owner, from: Publishers, texts: readonly string[]): Promise<void>[] {
    return texts.map((text) => {
      const message = messageOf({
        topic: 'up/a',
        qos: 1,
        payload: Buffer.from(text),
        id: `${from.name} ${text}`,
      });
      const plain = { isPlain: true, groups: [], hops: 0, mayWait: true, isAgain: false };
      const frame: PublishFrame = { type: 'publish', tenant: 't', message, ...plain };
      return Promise.resolve(heir.rules.inherit(from.name, frame, () => heir.take(frame)));
    });
  }

  it('that it has given back go to its heir, oldest first', async () => {
    const [owner, one] = [new Owner(), new Publishers('one')];
    owner.fill(QUEUE_LENGTH);
    for (const text of numbers(1, 3)) one.publish(text);
    await handleAll();
    const left = one.fanOut.forget('rules', new Set(['one 2']));
    expect(left.map(({ frame }) => textOf(frame.message))).toEqual(['1', '3']);
    await handleAll();
    // The second is among those that the process had not acknowledged.
    expect(one.taken).toEqual(['2']);
    for (const { resolve } of left) resolve();
    await handleAll();
    expect([one.taken, one.givenBack.bytes]).toEqual([['2', '1', '3'], 0]);
  });

  it('wait at the heir in their order, before newer ones', async () => {
    const [heir, one] = [new Owner('heir'), new Publishers('one', 'heir')];
    heir.fill(QUEUE_LENGTH);
    inherit(heir, one, ['1', '2', '3']);
    heir.queue.length = 94;
    one.publish('newer');
    await handleAll();
    for (let count = 0; count < QUEUE_LENGTH; count += 1) {
      heir.drain(1);
      await handleAll();
    }
    expect(heir.left.slice(-4)).toEqual(['1', '2', '3', 'newer']);
    expect(one.taken).toEqual(['newer']);
  });

  it('wait there for a limited time and within a limited number of bytes', async () => {
    const [heir, one] = [new Owner('heir'), new Publishers('one', 'heir')];
    heir.fill(QUEUE_LENGTH);
    const half = 'x'.repeat(GIVEN_BACK_BYTES_MAX / 2 - 100);
    const inherited = inherit(heir, one, [`a${half}`, `b${half}`, `c${half}`]);
    await inherited[2];
    expect(heir.gaveUp.map((text) => text[0])).toEqual(['c']);
    stage.clock.move(GIVEN_BACK_MS_MAX - 1);
    await handleAll();
    expect(heir.gaveUp.length).toBe(1);
    stage.clock.move(FULL_RULES_LOOKED_MS);
    await Promise.all(inherited);
    expect(heir.gaveUp.map((text) => text[0])).toEqual(['c', 'a', 'b']);
    expect(heir.backlog.countsOf('t', 'up/#')).toEqual({ givenBack: 3, givenUp: 3 });
    expect(heir.held).toEqual([]);
  });

  it('that find no room at the heir are refused to their publishers', async () => {
    const one = new Publishers('one', 'gone');
    one.publish('1');
    await handleAll();
    one.fanOut.handle('heir', { type: 'refused', messageId: 'one 1' });
    await handleAll();
    expect([one.taken, one.refused]).toEqual([[], []]);
  });
});
