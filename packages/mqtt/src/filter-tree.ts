import { containsWildcard } from './topic.ts';

/** A level of wildcard filters. `+` and `#` are children like any other: no literal level is spelled so. */
class Node<T> {
  readonly children = new Map<string, Node<T>>();
  value: T | undefined;
}

/**
 * Topic Filters and a value for each; `match` finds the values of all filters that match a Topic Name.
 *
 * Filters without wildcards are one lookup. The others are in a trie, which is walked level by level along
 * the name, so the cost follows the levels and the matches and not the number of filters. Nothing recurses,
 * and levels are keys of a Map, so no name is special.
 */
export class FilterTree<T extends NonNullable<unknown>> {
  readonly #exact = new Map<string, T>();
  readonly #root = new Node<T>();
  #wildcards = 0;

  /** How many filters there are. */
  get size(): number {
    return this.#exact.size + this.#wildcards;
  }

  get(filter: string): T | undefined {
    return containsWildcard(filter) ? this.#find(filter)?.value : this.#exact.get(filter);
  }

  /** The filter's value, created where there is none. */
  insert(filter: string, create: () => T): T {
    return containsWildcard(filter)
      ? this.#insertWildcard(filter, create)
      : this.#insertExact(filter, create);
  }

  /** Whether the filter was there. */
  delete(filter: string): boolean {
    return containsWildcard(filter) ? this.#deleteWildcard(filter) : this.#exact.delete(filter);
  }

  /** The values of all filters that match, in no particular order, each once. */
  match(topicName: string): T[] {
    const exact = this.#exact.get(topicName);
    const found = exact === undefined ? [] : [exact];
    if (this.#wildcards > 0) this.#matchWildcards(topicName, found);
    return found;
  }

  #matchWildcards(topicName: string, found: T[]): void {
    const levels = topicName.split('/');
    let nodes: Node<T>[] = [this.#root];
    for (const [depth, level] of levels.entries()) {
      const takesWildcards = depth > 0 || !level.startsWith('$'); // [MQTT-4.7.2-1]
      const next: Node<T>[] = [];
      for (const node of nodes) {
        const literal = node.children.get(level);
        if (literal !== undefined) next.push(literal);
        if (!takesWildcards) continue;
        const plus = node.children.get('+');
        if (plus !== undefined) next.push(plus);
        collect(node.children.get('#'), found);
      }
      if (next.length === 0) return;
      nodes = next;
    }
    for (const node of nodes) {
      collect(node, found);
      collect(node.children.get('#'), found); // `sport/#` also matches `sport` (4.7.1.2).
    }
  }

  #insertExact(filter: string, create: () => T): T {
    const existing = this.#exact.get(filter);
    if (existing !== undefined) return existing;
    const value = create();
    this.#exact.set(filter, value);
    return value;
  }

  #insertWildcard(filter: string, create: () => T): T {
    let node = this.#root;
    for (const level of filter.split('/')) {
      let child = node.children.get(level);
      if (child === undefined) {
        child = new Node<T>();
        node.children.set(level, child);
      }
      node = child;
    }
    if (node.value === undefined) {
      node.value = create();
      this.#wildcards += 1;
    }
    return node.value;
  }

  #find(filter: string): Node<T> | undefined {
    let node: Node<T> | undefined = this.#root;
    for (const level of filter.split('/')) node = node?.children.get(level);
    return node;
  }

  #deleteWildcard(filter: string): boolean {
    const path: { parent: Node<T>; level: string }[] = [];
    let node = this.#root;
    for (const level of filter.split('/')) {
      const child = node.children.get(level);
      if (child === undefined) return false;
      path.push({ parent: node, level });
      node = child;
    }
    if (node.value === undefined) return false;
    node.value = undefined;
    this.#wildcards -= 1;
    prune(path);
    return true;
  }
}

function collect<T>(node: Node<T> | undefined, found: T[]): void {
  if (node?.value !== undefined) found.push(node.value);
}

/** Removes the nodes that neither have a value nor lead to one, from the end of the path up. */
function prune<T>(path: { parent: Node<T>; level: string }[]): void {
  for (const { parent, level } of path.reverse()) {
    const node = parent.children.get(level);
    if (node === undefined || node.value !== undefined || node.children.size > 0) return;
    parent.children.delete(level);
  }
}
