import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LEVELS_MAX, VALUE_BYTES_MAX } from '../../../src/features/tree/limits.ts';
import { TopicIndex } from '../../../src/features/tree/topic-index.ts';
import { TopicNode } from '../../../src/features/tree/topic-node.ts';
import { message } from '../message.ts';

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** The node that a topic or the beginning of one leads to. */
function at(index: TopicIndex, path: string): TopicNode {
  let node: TopicNode | undefined = index.root;
  for (const name of path.split('/')) node = node?.child(name);
  if (node === undefined) throw new Error(`no node ${path}`);
  return node;
}

describe('the index of topics', () => {
  it('keeps the last value, its time, and counts at every level', () => {
    const index = new TopicIndex();
    index.add([
      message('home/kitchen/light', 'on', { atMs: 10 }),
      message('home/kitchen/light', 'off', { atMs: 20 }),
      message('home/kitchen', '2 devices', { atMs: 30 }),
      message('home/hall/light', 'on', { atMs: 40 }),
    ]);
    const light = at(index, 'home/kitchen/light');
    expect(text(index.valueOf(light))).toBe('off');
    expect(light).toMatchObject({ messages: 2, lastAtMs: 20, topic: 'home/kitchen/light' });
    expect(at(index, 'home')).toMatchObject({
      topic: undefined,
      messages: 0,
      messagesBelow: 4,
      topicsBelow: 3,
      lastAtMsBelow: 40,
    });
    expect(at(index, 'home/kitchen')).toMatchObject({ messages: 1, messagesBelow: 3, topicsBelow: 2 });
    expect(index.topicCount).toBe(3);
    expect(index.nodeCount).toBe(5);
  });

  it('a shorter value leaves nothing of a longer one behind', () => {
    const index = new TopicIndex();
    index.add([message('a', 'a long value'), message('b', 'other'), message('a', 'short')]);
    expect(text(index.valueOf(at(index, 'a')))).toBe('short');
    expect(text(index.valueOf(at(index, 'b')))).toBe('other');
  });

  it('keeps the beginning of a long value, and its length', () => {
    const index = new TopicIndex();
    index.add([message('a', 'x'.repeat(5_000))]);
    expect(index.valueOf(at(index, 'a'))).toHaveLength(VALUE_BYTES_MAX);
    expect(at(index, 'a').lastLength).toBe(5_000);
  });

  it('has levels without a name, as topics do', () => {
    const index = new TopicIndex();
    index.add([message('/a//b', '1'), message('/', '2')]);
    expect(at(index, '/a//b').path).toBe('/a//b');
    expect(at(index, '/').path).toBe('/');
    expect(at(index, '/a').path).toBe('/a');
  });

  it('agrees with a plain count, for any messages', () => {
    const topic = fc.array(fc.constantFrom('', 'a', 'b', 'room-2'), { minLength: 1, maxLength: 4 });
    const sent = fc.record({ topic, retain: fc.boolean(), payload: fc.constantFrom('', 'v') });
    fc.assert(
      fc.property(fc.array(sent, { maxLength: 60 }), (all) => {
        const index = new TopicIndex();
        index.add(
          all.map(({ topic: names, retain, payload }) => message(names.join('/'), payload, { retain })),
        );
        const prefixes = new Set(
          all.flatMap(({ topic: names }) => names.map((_, end) => names.slice(0, end + 1).join('/'))),
        );
        expect(index.nodeCount).toBe(prefixes.size);
        for (const prefix of prefixes) {
          const below = all.filter(({ topic: names }) => `${names.join('/')}/`.startsWith(`${prefix}/`));
          const topics = new Set(below.map(({ topic: names }) => names.join('/')));
          const retained = [...topics].filter((name) => isRetained(all, name));
          expect(at(index, prefix)).toMatchObject({
            messagesBelow: below.length,
            topicsBelow: topics.size,
            retainedBelow: retained.length,
          });
        }
      }),
    );
  });

  function isRetained(
    all: readonly { topic: readonly string[]; retain: boolean; payload: string }[],
    topic: string,
  ): boolean {
    const last = all.findLast(
      ({ topic: names, retain, payload }) => names.join('/') === topic && (retain || payload === ''),
    );
    return last?.retain === true && last.payload !== '';
  }

  it('is empty after it was cleared', () => {
    const index = new TopicIndex({ topicsMax: 1, nodesMax: 10 });
    index.add([message('a', '1'), message('b', '1')]);
    const before = index.structureVersion;
    index.clear();
    expect([index.topicCount, index.nodeCount, index.valueBytes, index.root.childCount]).toEqual([
      0, 0, 0, 0,
    ]);
    expect(index.messagesMissed).toBe(0);
    expect(index.structureVersion).not.toBe(before);
    index.add([message('c', '1')]);
    expect(text(index.valueOf(at(index, 'c')))).toBe('1');
  });
});

describe('the retained mark', () => {
  it('is set by a retained message, and kept by live ones', () => {
    const index = new TopicIndex();
    index.add([message('a', 'old', { retain: true }), message('a', 'new')]);
    expect(at(index, 'a').isRetained).toBe(true);
  });

  it('goes when an empty message comes', () => {
    const index = new TopicIndex();
    index.add([message('a/b', 'old', { retain: true }), message('a/b', '')]);
    expect(at(index, 'a/b').isRetained).toBe(false);
    expect(at(index, 'a').retainedBelow).toBe(0);
  });

  it('follows what is published from here, which is no message of the topic', () => {
    const index = new TopicIndex();
    index.add([message('a', 'live'), message('a', 'kept', { direction: 'published', retain: true })]);
    expect(at(index, 'a')).toMatchObject({ isRetained: true, messages: 1 });
    index.add([message('a', '', { direction: 'published', retain: true })]);
    expect(at(index, 'a')).toMatchObject({ isRetained: false, messages: 1 });
    index.add([message('unseen', 'x', { direction: 'published', retain: true })]);
    expect(index.get('unseen')).toBeUndefined();
  });
});

describe('the limits of the index', () => {
  it('keeps its topics, and counts the messages of others', () => {
    const index = new TopicIndex({ topicsMax: 2, nodesMax: 100 });
    index.add(['a', 'b', 'c', 'd', 'c', 'a'].map((topic) => message(topic, '1')));
    expect(index.topicCount).toBe(2);
    expect(index.messagesMissed).toBe(3);
    expect(at(index, 'a').messages).toBe(2);
  });

  it('counts levels, not topics alone: one of many levels does not take all the room', () => {
    const index = new TopicIndex({ topicsMax: 100, nodesMax: 5 });
    index.add([message('a/b/c', '1'), message('d/e/f', '1'), message('a/b/x', '1')]);
    expect(index.nodeCount).toBe(4);
    expect(index.get('d/e/f')).toBeUndefined();
    expect(index.messagesMissed).toBe(1);
    expect(index.root.childCount).toBe(1);
  });

  it('shows levels beyond its depth as one name', () => {
    const index = new TopicIndex();
    const topic = Array.from({ length: 5_000 }, (_, level) => level).join('/');
    index.add([message(topic, '1')]);
    expect(index.nodeCount).toBe(LEVELS_MAX);
    expect(index.get(topic)?.name.startsWith(`${LEVELS_MAX - 1}/${LEVELS_MAX}/`)).toBe(true);
    expect(index.get(topic)?.path).toBe(topic);
  });
});

describe('the order of names', () => {
  it('puts numbers by their value, also among what comes later', () => {
    const root = new TopicNode('', undefined);
    for (const name of ['room-10', 'room-2', 'hall']) root.addChild(name);
    expect(root.children.map(({ name }) => name)).toEqual(['hall', 'room-2', 'room-10']);
    for (const name of ['room-1', 'room-100', 'attic', 'room-007']) root.addChild(name);
    expect(root.children.map(({ name }) => name)).toEqual([
      'attic',
      'hall',
      'room-1',
      'room-2',
      'room-007',
      'room-10',
      'room-100',
    ]);
  });

  it('is the same whichever come first', () => {
    const names = fc.uniqueArray(fc.string({ unit: fc.constantFrom(...'ab01-'), maxLength: 5 }), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(names, fc.nat(30), (all, half) => {
        const atOnce = new TopicNode('', undefined);
        for (const name of all) atOnce.addChild(name);
        const inTwo = new TopicNode('', undefined);
        for (const name of all.slice(half)) inTwo.addChild(name);
        expect(inTwo.children).toHaveLength(Math.max(0, all.length - half));
        for (const name of all.slice(0, half)) inTwo.addChild(name);
        expect(inTwo.children.map(({ sortKey }) => sortKey)).toEqual(
          atOnce.children.map(({ sortKey }) => sortKey),
        );
      }),
    );
  });
});
