import { describe, expect, test } from 'vitest';
import { EVENT_ID_BYTES_MAX, EventPositions, readEventId } from '../../src/http-streams/event-positions.ts';

const positionsWith = (entries: Readonly<Record<string, string>>, onlyTopic?: string): EventPositions => {
  const positions = new EventPositions(onlyTopic);
  for (const [topic, position] of Object.entries(entries)) positions.set(topic, position);
  return positions;
};

describe('the id of an event', () => {
  test('is the position itself where one topic is read', () => {
    const id = positionsWith({ 'chat/a': 'e1-7' }, 'chat/a').toString();
    expect(id).toBe('e1-7');
    expect(readEventId(id, 'chat/a')).toEqual(new Map([['chat/a', 'e1-7']]));
  });

  test.each(['chat/a', 'with space', '100%/of %41', 'äöü/日本/😀', 'a#b?c&d=e;f,g', '\u007f\u0001', '//'])(
    'has a position for each topic, in characters that a header may have: %j',
    (topic) => {
      const id = positionsWith({ other: 'e1-1', [topic]: 'e2-12-9' }).toString();
      expect(id).toMatch(/^[!-~]+( [!-~]+)*$/);
      expect(readEventId(id, undefined)).toEqual(
        new Map([
          ['other', 'e1-1'],
          [topic, 'e2-12-9'],
        ]),
      );
    },
  );

  test('has the last position of a topic', () => {
    expect(positionsWith({ a: 'e-1' }).toString()).toBe('e-1 a');
    const positions = positionsWith({ a: 'e-1', b: 'e-5' });
    positions.set('a', 'e-2');
    expect(positions.toString()).toBe('e-2 a e-5 b');
  });

  test('says that no topic has a message yet', () => {
    expect(readEventId(new EventPositions(undefined).toString(), undefined)).toEqual(new Map());
    expect(readEventId(new EventPositions('a').toString(), 'a')).toEqual(new Map());
  });

  test('says no position once it would be too long, and never again', () => {
    const positions = new EventPositions(undefined);
    let topics = 0;
    while (positions.toString() !== '-') {
      expect(positions.toString().length).toBeLessThanOrEqual(EVENT_ID_BYTES_MAX);
      positions.set(`a topic ${topics}`, 'epoch-1');
      topics += 1;
    }
    // "epoch-1", a space, "a%20topic%20123", a space.
    expect(topics).toBeGreaterThan(EVENT_ID_BYTES_MAX / 24);
    positions.set('a', 'epoch-1');
    expect(positions.toString()).toBe('-');
    expect(readEventId('-', undefined)).toBeUndefined();
  });

  test.each([
    '',
    'x',
    'e-1',
    'e-1 a e-2',
    'e-1  e-2 b',
    'e-1 %',
    'E-1 a',
    'a e-1',
    'e-1 a '.repeat(1_000).trim(),
  ])('that no event has had says nothing: %j', (id) => {
    expect(readEventId(id, undefined)).toBeUndefined();
  });
});
