import { findNode, makeNode, removeValue, TrieNode } from './level-trie.ts';
import { containsWildcard } from './topic.ts';

const NO_MATCH = -1;
/** `#`: any rest of the name matches. */
const MATCHES_REST = -2;

/**
 * Topic Filters and a value for each; `match` finds the values of all filters that match a Topic Name.
 *
 * Filters without wildcards are one lookup. The others are in a trie, which is walked along the name, so the cost
 * follows the levels and the matches and not the number of filters. `+` and `#` are levels like any other there: no
 * literal level is spelled so. Nothing recurses, and levels are keys of a Map, so no name is special.
 */
export class FilterTree<T extends NonNullable<unknown>> {
  readonly #exact = new Map<string, T>();
  readonly #root = new TrieNode<T>();
  #wildcards = 0;

  /** How many filters there are. */
  get size(): number {
    return this.#exact.size + this.#wildcards;
  }

  get(filter: string): T | undefined {
    if (!containsWildcard(filter)) return this.#exact.get(filter);
    return findNode(this.#root, filter.split('/'))?.value;
  }

  /** The filter's value, created where there is none. */
  insert(filter: string, create: () => T): T {
    return containsWildcard(filter)
      ? this.#insertWildcard(filter, create)
      : this.#insertExact(filter, create);
  }

  /** Whether the filter was there. */
  delete(filter: string): boolean {
    if (!containsWildcard(filter)) return this.#exact.delete(filter);
    const wasThere = removeValue(this.#root, filter.split('/'));
    if (wasThere) this.#wildcards -= 1;
    return wasThere;
  }

  /** The values of all filters that match, in no particular order, each once. */
  match(topicName: string): T[] {
    const exact = this.#exact.get(topicName);
    const found = exact === undefined ? [] : [exact];
    if (this.#wildcards > 0) this.#matchWildcards(topicName.split('/'), found);
    return found;
  }

  #matchWildcards(levels: readonly string[], found: T[]): void {
    const nodes: TrieNode<T>[] = [this.#root];
    // For each node, how many levels of the name lead to it.
    const depths: number[] = [0];
    const visit = (child: TrieNode<T> | undefined, depth: number): void => {
      if (child === undefined) return;
      const end = follow(child.label, levels, depth);
      if (end === MATCHES_REST) collect(child, found);
      else if (end !== NO_MATCH) {
        nodes.push(child);
        depths.push(end);
      }
    };
    for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
      const depth = depths.pop() ?? 0;
      const level = levels[depth];
      if (level === undefined) collect(node, found);
      if (node.children === undefined) continue;
      const takesWildcards = depth > 0 || level?.startsWith('$') !== true; // [MQTT-4.7.2-1]
      if (level !== undefined) {
        visit(node.children.get(level), depth);
        if (takesWildcards) visit(node.children.get('+'), depth);
      }
      if (takesWildcards) visit(node.children.get('#'), depth);
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
    const node = makeNode(this.#root, filter.split('/'));
    if (node.value === undefined) {
      node.value = create();
      this.#wildcards += 1;
    }
    return node.value;
  }
}

/** The position in the name after these levels of a filter. */
function follow(label: readonly string[], levels: readonly string[], depth: number): number {
  let at = depth;
  for (const level of label) {
    if (level === '#') return MATCHES_REST; // `sport/#` also matches `sport` (4.7.1.2).
    if (at === levels.length || (level !== '+' && level !== levels[at])) return NO_MATCH;
    at += 1;
  }
  return at;
}

function collect<T>(node: TrieNode<T>, found: T[]): void {
  if (node.value !== undefined) found.push(node.value);
}
