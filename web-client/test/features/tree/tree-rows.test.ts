import { describe, expect, it } from 'vitest';
import { OpenState } from '../../../src/features/tree/open-nodes.ts';
import { searchTopics } from '../../../src/features/tree/search.ts';
import { TopicIndex } from '../../../src/features/tree/topic-index.ts';
import { type TreeRow, TreeRows } from '../../../src/features/tree/tree-rows.ts';
import { message } from '../message.ts';

function indexOf(...topics: string[]): TopicIndex {
  const index = new TopicIndex();
  index.add(topics.map((topic) => message(topic, 'x')));
  return index;
}

function rowsOf(...parameters: ConstructorParameters<typeof TreeRows>): TreeRow[] {
  const rows = new TreeRows(...parameters);
  return Array.from({ length: rows.length }, (_, index) => rows.at(index)).filter((row) => row !== undefined);
}

const paths = (...parameters: ConstructorParameters<typeof TreeRows>): string[] =>
  rowsOf(...parameters).map(({ node }) => node.path);

describe('the lines of the tree', () => {
  const index = indexOf('home/kitchen/light', 'home/hall', 'office');

  it('are the first levels while nothing is open', () => {
    expect(paths(index.root, new OpenState(), undefined)).toEqual(['home', 'office']);
  });

  it('follow what is open, with position and size for a screen reader', () => {
    const open = new OpenState();
    const home = index.root.child('home');
    if (home === undefined) throw new Error('no home');
    open.set(home, true);
    expect(
      rowsOf(index.root, open, undefined).map(({ node, position, siblings, canOpen, isOpen }) => [
        node.path,
        position,
        siblings,
        canOpen,
        isOpen,
      ]),
    ).toEqual([
      ['home', 1, 2, true, true],
      ['home/hall', 1, 2, false, false],
      ['home/kitchen', 2, 2, true, false],
      ['office', 2, 2, false, false],
    ]);
  });

  it('are all of them after everything was opened, except what was closed since', () => {
    const open = new OpenState();
    open.setAll(true);
    expect(paths(index.root, open, undefined)).toHaveLength(5);
    const before = open.version;
    const home = index.root.child('home');
    if (home !== undefined) open.set(home, false);
    expect(paths(index.root, open, undefined)).toEqual(['home', 'office']);
    expect(open.version).not.toBe(before);
    open.setAll(false);
    expect(paths(index.root, open, undefined)).toEqual(['home', 'office']);
  });

  it('show a topic when what is above it was opened for it', () => {
    const open = new OpenState();
    const light = index.get('home/kitchen/light');
    if (light !== undefined) open.reveal(light);
    expect(paths(index.root, open, undefined)).toContain('home/kitchen/light');
  });
});

describe('search', () => {
  const index = indexOf(
    'home/Kitchen/light',
    'home/hall/light',
    'home/hall',
    'office/kitchen',
    '$SYS/uptime',
  );
  const all = new OpenState();
  all.setAll(true);

  it('finds text in either case and shows what is above', () => {
    const result = searchTopics(index, 'KITCHEN');
    expect(result.topics).toBe(2);
    expect(paths(index.root, all, result)).toEqual([
      'home',
      'home/Kitchen',
      'home/Kitchen/light',
      'office',
      'office/kitchen',
    ]);
  });

  it('counts positions among what it shows', () => {
    const rows = rowsOf(index.root, all, searchTopics(index, 'hall/light'));
    expect(rows.map(({ position, siblings }) => [position, siblings])).toEqual([
      [1, 1],
      [1, 1],
      [1, 1],
    ]);
  });

  it('can close what it has found', () => {
    const open = new OpenState();
    const rows = rowsOf(index.root, open, searchTopics(index, 'hall/light'));
    expect(rows.map(({ node, canOpen }) => [node.path, canOpen])).toEqual([['home', true]]);
  });

  it.each([
    ['home/+/light', 2],
    ['home/#', 3],
    ['home/hall/#', 2],
    ['#', 4],
    ['+/#', 4],
    ['$SYS/#', 1],
    ['+/kitchen', 1],
    ['home/+', 1],
    ['a+b', 0],
  ])('%s finds %d topics', (query, count) => {
    expect(searchTopics(index, query).topics).toBe(count);
  });
});
