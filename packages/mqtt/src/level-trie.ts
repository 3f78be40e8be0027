/**
 * A place in a tree of levels. Levels that lead to one place only are in one node: a name of 200 levels that shares none
 * costs one node, and not 200 [SEC-MEMORY-4].
 */
export class TrieNode<T> {
  /** The levels from the parent to here: at least one, and none at the root. */
  label: readonly string[];
  /** By the first level of their labels. */
  children: Map<string, TrieNode<T>> | undefined = undefined;
  value: T | undefined = undefined;

  constructor(label: readonly string[] = []) {
    this.label = label;
  }

  child(level: string): TrieNode<T> | undefined {
    return this.children?.get(level);
  }
}

export function findNode<T>(root: TrieNode<T>, levels: readonly string[]): TrieNode<T> | undefined {
  let node = root;
  for (let depth = 0; depth < levels.length; depth += node.label.length) {
    const child = node.child(levels[depth] ?? '');
    if (child === undefined || sharedLevels(child.label, levels, depth) < child.label.length)
      return undefined;
    node = child;
  }
  return node;
}

/** The node of these levels, made where there is none. It has to be given a value. */
export function makeNode<T>(root: TrieNode<T>, levels: readonly string[]): TrieNode<T> {
  let node = root;
  for (let depth = 0; depth < levels.length; depth += node.label.length) {
    const child = node.child(levels[depth] ?? '');
    if (child === undefined) return append(node, new TrieNode<T>(levels.slice(depth)));
    const shared = sharedLevels(child.label, levels, depth);
    node = shared < child.label.length ? split(node, child, shared) : child;
  }
  return node;
}

/** Removes the value of these levels, and the nodes that led to it alone. Returns whether there was a value. */
export function removeValue<T>(root: TrieNode<T>, levels: readonly string[]): boolean {
  let parent = root;
  let node = root;
  for (let depth = 0; depth < levels.length; depth += node.label.length) {
    const child = node.child(levels[depth] ?? '');
    if (child === undefined || sharedLevels(child.label, levels, depth) < child.label.length) return false;
    parent = node;
    node = child;
  }
  if (node.value === undefined) return false;
  node.value = undefined;
  if (node.children === undefined) {
    detach(parent, node);
    if (parent !== root) joinOnlyChild(parent);
  } else joinOnlyChild(node);
  return true;
}

/** How many levels from `depth` on are those of the label. */
function sharedLevels(label: readonly string[], levels: readonly string[], depth: number): number {
  let shared = 0;
  while (shared < label.length && label[shared] === levels[depth + shared]) shared += 1;
  return shared;
}

function append<T>(parent: TrieNode<T>, child: TrieNode<T>): TrieNode<T> {
  parent.children ??= new Map();
  parent.children.set(child.label[0] ?? '', child);
  return child;
}

/** Puts a node between parent and child, at this many levels of the child's label. */
function split<T>(parent: TrieNode<T>, child: TrieNode<T>, levels: number): TrieNode<T> {
  const between = append(parent, new TrieNode<T>(child.label.slice(0, levels)));
  child.label = child.label.slice(levels);
  append(between, child);
  return between;
}

function detach<T>(parent: TrieNode<T>, child: TrieNode<T>): void {
  parent.children?.delete(child.label[0] ?? '');
  if (parent.children?.size === 0) parent.children = undefined;
}

/** Merges a node that has no value and a single child with that child. */
function joinOnlyChild<T>(node: TrieNode<T>): void {
  if (node.value !== undefined || node.children?.size !== 1) return;
  for (const child of node.children.values()) {
    node.label = [...node.label, ...child.label];
    node.value = child.value;
    node.children = child.children;
  }
}
