import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { runs } from '../../../test/support/runs.ts';
import { FilterTree, filterForShape, matches, shapeOf, TopicTree } from '../src/index.ts';
import { filter, name } from './arbitraries.ts';
import { naiveMatches } from './naive.ts';

const RUNS = { numRuns: runs(1000) };
/** The iterator prototype of all Maps: `for … of`, spreads and destructuring call its `next`. */
const MAP_STEPS: { next(): unknown } = Object.getPrototypeOf(new Map().values());
const change = <T>(key: fc.Arbitrary<T>) => fc.tuple(fc.boolean(), key);

describe('FilterTree', () => {
  it('finds the same as the naive matcher, after any inserts and deletes', () => {
    fc.assert(
      fc.property(fc.array(change(filter), { maxLength: 40 }), name, (changes, topicName) => {
        const tree = new FilterTree<string>();
        const expected = new Set<string>();
        for (const [isInsert, key] of changes) {
          if (isInsert) {
            tree.insert(key, () => key);
            expected.add(key);
          } else {
            expect(tree.delete(key)).toBe(expected.delete(key));
          }
        }
        expect(tree.size).toBe(expected.size);
        expect(tree.match(topicName).sort()).toEqual(
          [...expected].filter((key) => naiveMatches(key, topicName)).sort(),
        );
        for (const [, key] of changes) expect(tree.get(key)).toBe(expected.has(key) ? key : undefined);
      }),
      RUNS,
    );
  });

  it('creates a value once', () => {
    const tree = new FilterTree<string[]>();
    for (const key of ['a/b', 'a/+']) {
      tree.insert(key, () => []).push('first');
      tree.insert(key, () => []).push('second');
      expect(tree.get(key)).toEqual(['first', 'second']);
    }
    expect(tree.match('a/b')).toHaveLength(2);
    expect(tree.size).toBe(2);
  });

  it('[MQTT-4.7.2-1] does not give a leading wildcard a topic that begins with $', () => {
    const tree = new FilterTree<string>();
    for (const key of ['#', '+/a', '$SYS/#', '+/#']) tree.insert(key, () => key);
    expect(tree.match('$SYS/a')).toEqual(['$SYS/#']);
  });

  it('takes names that objects trip over', () => {
    const tree = new FilterTree<string>();
    expect(tree.match('__proto__')).toEqual([]);
    expect(tree.match('constructor/toString')).toEqual([]);
    tree.insert('__proto__/+', () => 'x');
    tree.insert('__proto__', () => 'y');
    expect(tree.match('__proto__/constructor')).toEqual(['x']);
    expect(tree.match('__proto__')).toEqual(['y']);
  });

  it('takes as many levels as a name can have', () => {
    const tree = new FilterTree<string>();
    const deep = '/'.repeat(65_534);
    tree.insert(`${deep}+`, () => 'x');
    tree.insert('#', () => 'y');
    expect(tree.match(deep).sort()).toEqual(['x', 'y']);
    expect(tree.delete(`${deep}+`)).toBe(true);
  });

  it('costs the same with a hundred thousand filters as with a few', () => {
    const lookUpsOf = (devices: number): number => {
      const tree = new FilterTree<number>();
      for (let index = 0; index < devices; index += 1) {
        tree.insert(`device/${index}/+`, () => index);
        tree.insert(`device/${index}/state`, () => -index);
      }
      const costs = [vi.spyOn(Map.prototype, 'get'), vi.spyOn(MAP_STEPS, 'next')];
      const matched = tree.match(`device/${devices - 1}/state`);
      const [lookUps = 0, steps] = costs.map(({ mock }) => mock.calls.length);
      vi.restoreAllMocks();
      expect(matched).toHaveLength(2);
      expect(steps).toBe(0);
      return lookUps;
    };
    expect(lookUpsOf(100_000)).toBe(lookUpsOf(10));
  });
});

describe('TopicTree', () => {
  it('finds the same as the naive matcher, after any sets and deletes', () => {
    fc.assert(
      fc.property(fc.array(change(name), { maxLength: 40 }), filter, (changes, topicFilter) => {
        const tree = new TopicTree<string>();
        const expected = new Set<string>();
        for (const [isSet, key] of changes) {
          if (isSet) {
            tree.set(key, key);
            expected.add(key);
          } else {
            expect(tree.delete(key)).toBe(expected.delete(key));
          }
        }
        expect(tree.size).toBe(expected.size);
        expect([...tree.match(topicFilter)].sort()).toEqual(
          [...expected].filter((key) => naiveMatches(topicFilter, key)).sort(),
        );
        for (const [, key] of changes) expect(tree.get(key)).toBe(expected.has(key) ? key : undefined);
      }),
      RUNS,
    );
  });

  it('[MQTT-4.7.2-1] does not give a leading wildcard a topic that begins with $', () => {
    const tree = new TopicTree<string>();
    for (const key of ['$SYS/a', '$SYS', 'a']) tree.set(key, key);
    expect([...tree.match('#')]).toEqual(['a']);
    expect([...tree.match('+')]).toEqual(['a']);
    expect([...tree.match('+/a')]).toEqual([]);
    expect([...tree.match('$SYS/#')].sort()).toEqual(['$SYS', '$SYS/a']);
  });

  it('replaces a value', () => {
    const tree = new TopicTree<number>();
    tree.set('a', 1);
    tree.set('a', 2);
    expect(tree.get('a')).toBe(2);
    expect(tree.size).toBe(1);
  });

  it('takes as many levels as a name can have', () => {
    const tree = new TopicTree<string>();
    const deep = '/'.repeat(65_535);
    tree.set(deep, 'x');
    expect([...tree.match('#')]).toEqual(['x']);
    expect([...tree.match(deep)]).toEqual(['x']);
    expect(tree.delete(deep)).toBe(true);
    expect([...tree.match('#')]).toEqual([]);
  });

  it('walks lazily: the first match does not cost the others', () => {
    const tree = new TopicTree<number>();
    for (let index = 0; index < 1_000; index += 1) tree.set(`device/${index}/state`, index);
    const steps = vi.spyOn(MAP_STEPS, 'next');
    const first = tree.match('+/+/#').next().value;
    const stepsToFirst = steps.mock.calls.length;
    const named = [...tree.match('+/500/+')];
    const stepsInAll = steps.mock.calls.length;
    vi.restoreAllMocks();
    expect(first).toBe(0);
    expect(named).toEqual([500]);
    // A level of the filter takes a step to each of its matches, and one that finds no more.
    expect(stepsToFirst).toBeGreaterThan(0);
    expect(stepsInAll).toBeLessThan(10);
  });
});

describe('shapes', () => {
  it.each([
    ['a', '.'],
    ['a/b', '..'],
    ['+', '+'],
    ['#', '#'],
    ['a/+/b/#', '.+.#'],
    ['/', '..'],
    ['/+', '.+'],
    ['$SYS/#', '.#'],
  ])('of %s is %s', (topicFilter, shape) => {
    expect(shapeOf(topicFilter)).toBe(shape);
  });

  it.each([
    ['.+.#', 'a/b/c', 'a/+/c/#'],
    ['.+.#', 'a/b/c/d/e', 'a/+/c/#'],
    ['.+.#', 'a/b', undefined],
    ['..', 'a/b', 'a/b'],
    ['..', 'a', undefined],
    ['.#', 'a', 'a/#'],
    ['#', 'a/b', '#'],
    ['+.', '/b', '+/b'],
  ])('%s and the topic %s give %s', (shape, topicName, expected) => {
    expect(filterForShape(shape, topicName)).toBe(expected);
  });

  it('[MQTT-4.7.2-1] with a leading wildcard give nothing for a topic that begins with $', () => {
    expect(filterForShape('#', '$SYS')).toBeUndefined();
    expect(filterForShape('+.', '$SYS/a')).toBeUndefined();
    expect(filterForShape('.+', '$SYS/a')).toBe('$SYS/+');
  });

  it('find a filter if and only if it matches', () => {
    fc.assert(
      fc.property(filter, name, (topicFilter, topicName) => {
        const found = filterForShape(shapeOf(topicFilter), topicName);
        expect(found === topicFilter).toBe(matches(topicFilter, topicName));
        if (found !== undefined) expect(shapeOf(found)).toBe(shapeOf(topicFilter));
      }),
      { numRuns: runs(10_000) },
    );
  });
});
