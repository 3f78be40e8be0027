import { expect, it } from 'vitest';
import { findNode, makeNode, removeValue, TrieNode } from '../src/level-trie.ts';

const levelsOf = (name: string, count = 200): string[] => Array.from({ length: count }, () => name);

function put(root: TrieNode<number>, levels: readonly string[], value: number): void {
  makeNode(root, levels).value = value;
}

/** Every node below, however deep. */
function nodesBelow(node: TrieNode<number>): number {
  let count = 0;
  for (const child of node.children?.values() ?? []) count += 1 + nodesBelow(child);
  return count;
}

it('[SEC-MEMORY-4] a name of 200 levels that shares none is one node', () => {
  const root = new TrieNode<number>();
  for (let index = 0; index < 100; index += 1) put(root, [`${index}`, ...levelsOf('x')], index);
  expect(nodesBelow(root)).toBe(100);
});

it('a name that branches off makes one node more than its own, and both are gone with it', () => {
  const root = new TrieNode<number>();
  const [one, other] = [
    [...levelsOf('x'), 'one'],
    [...levelsOf('x', 50), 'other'],
  ];
  put(root, one, 1);
  put(root, other, 2);
  expect(nodesBelow(root)).toBe(3);
  expect([findNode(root, one)?.value, findNode(root, other)?.value]).toEqual([1, 2]);
  expect(removeValue(root, other)).toBe(true);
  expect(nodesBelow(root)).toBe(1);
  expect(findNode(root, one)?.value).toBe(1);
  expect(removeValue(root, other)).toBe(false);
});

it('a name within another one is a place in its chain, until it is removed', () => {
  const root = new TrieNode<number>();
  put(root, levelsOf('x'), 1);
  put(root, levelsOf('x', 10), 2);
  expect(nodesBelow(root)).toBe(2);
  expect(findNode(root, levelsOf('x', 9))).toBeUndefined();
  removeValue(root, levelsOf('x', 10));
  expect(nodesBelow(root)).toBe(1);
  removeValue(root, levelsOf('x'));
  expect(root.children).toBeUndefined();
});
