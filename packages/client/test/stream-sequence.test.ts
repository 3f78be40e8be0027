import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../test/support/runs.ts';
import { Sequence } from '../src/resume/sequence.ts';

const EPOCH = 'e';

/** A sequence, and the messages that it has handed over. */
function sequenceFrom(after: number, newest = after): { sequence: Sequence; seen: string[] } {
  const sequence = new Sequence(EPOCH);
  sequence.begin({ epoch: EPOCH, after, newest });
  return { sequence, seen: [] };
}

interface Given {
  readonly stable?: number;
  readonly epoch?: string;
  readonly isPast?: boolean;
}

function take(
  { sequence, seen }: ReturnType<typeof sequenceFrom>,
  number: number,
  { stable = number - 1, epoch = EPOCH, isPast = false }: Given = {},
): 'lost' | undefined {
  const position = { epoch, number, stable, topic: undefined };
  return sequence.take({ position, isPast, handOver: () => seen.push(String(number)) });
}

describe('the messages of a topic', () => {
  test('are handed over as they come if each says that all before it have been sent', () => {
    const topic = sequenceFrom(0);
    for (const number of [1, 2, 4]) take(topic, number);
    expect(topic.seen).toEqual(['1', '2', '4']);
    expect(topic.sequence.position).toBe('e-4');
  });

  test('wait for an earlier one that may be on its way', () => {
    const topic = sequenceFrom(0);
    take(topic, 2, { stable: 0 });
    take(topic, 3, { stable: 0 });
    expect(topic.seen).toEqual([]);
    expect(topic.sequence.position).toBe('e-0');
    take(topic, 1, { stable: 0 });
    expect(topic.seen).toEqual(['1', '2', '3']);
    expect(topic.sequence.heldCount).toBe(0);
  });

  test('wait no longer when a later one says that the missing one cannot come any more', () => {
    const topic = sequenceFrom(0);
    take(topic, 2, { stable: 0 });
    take(topic, 5, { stable: 1 });
    expect(topic.seen).toEqual(['2']);
    take(topic, 4, { stable: 1 });
    take(topic, 3, { stable: 1 });
    expect(topic.seen).toEqual(['2', '3', '4', '5']);
  });

  test('are handed over once', () => {
    const topic = sequenceFrom(0);
    for (const number of [1, 1, 2, 1]) take(topic, number, { stable: 0 });
    expect(topic.seen).toEqual(['1', '2']);
  });

  test('come as history in order, and then live', () => {
    const topic = sequenceFrom(2, 4);
    for (const number of [3, 4]) take(topic, number, { isPast: true });
    for (const number of [3, 4, 5]) take(topic, number, { stable: 0 });
    expect(topic.seen).toEqual(['3', '4', '5']);
  });

  test('are asked for behind the last received one of the history', () => {
    const topic = sequenceFrom(2, 9);
    take(topic, 3, { isPast: true });
    expect(topic.sequence.position).toBe('e-3');
  });

  test('of the history are not dropped because another subscription brings a live one meanwhile', () => {
    const topic = sequenceFrom(0, 2);
    take(topic, 1, { isPast: true });
    take(topic, 3);
    take(topic, 2, { isPast: true });
    expect(topic.seen).toEqual(['1', '3', '2']);
  });

  test('of the history of a lost SUBACK come once, and begin no other epoch', () => {
    const topic = sequenceFrom(3);
    take(topic, 4, { stable: 0 });
    take(topic, 4, { stable: 0, isPast: true });
    expect(topic.seen).toEqual(['4']);
    take(topic, 6, { stable: 4, isPast: true });
    expect(topic.seen).toEqual(['4']);
    expect(take(topic, 9, { epoch: 'f', stable: 7, isPast: true })).toBe('lost');
    expect(topic.sequence.position).toBe('e-4');
  });

  test('of the history of an earlier SUBACK are not handed over again in its epoch', () => {
    const topic = sequenceFrom(0);
    topic.sequence.begin({ epoch: 'f', after: 0, newest: 2 });
    for (const number of [1, 2]) take(topic, number, { epoch: 'f', isPast: true });
    for (const number of [1, 2]) expect(take(topic, number, { isPast: true })).toBe('lost');
    expect(topic.seen).toEqual(['1', '2']);
    expect(topic.sequence.position).toBe('f-2');
  });

  test('that were held come with the history after they have been asked for', () => {
    const topic = sequenceFrom(1);
    take(topic, 3, { stable: 0 });
    topic.sequence.begin({ epoch: EPOCH, after: 1, newest: 3 });
    for (const number of [2, 3]) take(topic, number, { isPast: true });
    take(topic, 4, { stable: 0 });
    expect(topic.seen).toEqual(['2', '3', '4']);
  });

  test('of another epoch go on where all before them have left, and are lost otherwise', () => {
    const topic = sequenceFrom(7);
    expect(take(topic, 1, { epoch: 'f' })).toBeUndefined();
    expect(topic.sequence.position).toBe('f-1');
    expect(take(topic, 9, { epoch: 'g', stable: 3 })).toBe('lost');
    expect(topic.seen).toEqual(['1']);
  });

  test('of an earlier epoch that come late do not bring it back', () => {
    const topic = sequenceFrom(7);
    topic.sequence.begin({ epoch: 'f', after: 14, newest: 14 });
    expect(take(topic, 12)).toBe('lost');
    take(topic, 15, { epoch: 'f' });
    expect(take(topic, 13)).toBe('lost');
    expect(topic.seen).toEqual(['15']);
    expect(topic.sequence.position).toBe('f-15');
  });

  test.each([1, 2])(
    'of the epoch before (%d) come late to a topic that begins anew, and are lost',
    (number) => {
      const topic = sequenceFrom(0);
      for (const each of [1, 2]) take(topic, each);
      topic.sequence.begin({ epoch: 'f', after: 0, newest: 0 });
      expect(take(topic, number)).toBe('lost');
      take(topic, 1, { epoch: 'f' });
      expect(topic.seen).toEqual(['1', '2', '1']);
      expect(topic.sequence.position).toBe('f-1');
    },
  );

  test('begin at the position in SUBACK in a new epoch', () => {
    const topic = sequenceFrom(7);
    topic.sequence.begin({ epoch: 'f', after: 2, newest: 3 });
    take(topic, 3, { epoch: 'f', isPast: true });
    expect(topic.seen).toEqual(['3']);
    expect(topic.sequence.position).toBe('f-3');
  });

  test('come in order and once, in whichever order their posts arrive and repeat', () => {
    const count = 30;
    const posts = fc
      .array(fc.record({ number: fc.integer({ min: 1, max: count }), late: fc.nat(20) }), { maxLength: 60 })
      .map((repeats) => [
        ...Array.from({ length: count }, (_, index) => ({ number: index + 1, late: 0 })),
        ...repeats,
      ]);
    const shuffled = posts.chain((all) =>
      fc
        .array(fc.nat(12), { minLength: all.length, maxLength: all.length })
        .map((delays) =>
          all
            .map((post, index) => ({ ...post, at: post.number + post.late + (delays[index] ?? 0) }))
            .sort((one, other) => one.at - other.at),
        ),
    );
    fc.assert(
      fc.property(shuffled, (arrivals) => {
        const topic = sequenceFrom(0);
        // No message is more than 32 places late.
        for (const { number } of arrivals) take(topic, number, { stable: Math.max(0, number - 33) });
        expect(topic.seen).toEqual(Array.from({ length: count }, (_, index) => String(index + 1)));
      }),
      { numRuns: runs(500) },
    );
  });
});
