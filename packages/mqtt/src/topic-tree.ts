import { findNode, makeNode, removeValue, TrieNode } from './level-trie.ts';

/** Nodes to look at, and how many levels of the filter lead to their parent. */
interface Frontier<T> {
  nodes: Iterator<TrieNode<T>>;
  depth: number;
}

const NO_MATCH = -1;

/**
 * Topic Names and a value for each; `match` finds the values of all names that a Topic Filter matches.
 *
 * It is the retained messages' side of matching: only the branches that the filter leads to are walked, with a
 * stack of its own, so a name of many levels cannot overflow the engine's.
 */
export class TopicTree<T extends NonNullable<unknown>> {
  readonly #root = new TrieNode<T>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(topicName: string): T | undefined {
    return findNode(this.#root, topicName.split('/'))?.value;
  }

  set(topicName: string, value: T): void {
    const node = makeNode(this.#root, topicName.split('/'));
    if (node.value === undefined) this.#size += 1;
    node.value = value;
  }

  /** Whether the name was there. */
  delete(topicName: string): boolean {
    const wasThere = removeValue(this.#root, topicName.split('/'));
    if (wasThere) this.#size -= 1;
    return wasThere;
  }

  /** Lazily, in no particular order. A value set or deleted meanwhile may or may not be seen. */
  *match(filter: string): Generator<T, void, undefined> {
    for (const value of this.walk(filter)) if (value !== undefined) yield value;
  }

  /** The same, with `undefined` for each other node that is looked at: the caller may end a walk that is long. */
  *walk(filter: string): Generator<T | undefined, void, undefined> {
    const levels = filter.split('/');
    const stack: Frontier<T>[] = [{ nodes: [this.#root].values(), depth: 0 }];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const { value: node, done } = top.nodes.next();
      if (done) {
        stack.pop();
        continue;
      }
      const depth = follow(node.label, levels, top.depth);
      const level = levels[depth];
      // The filter matches here after its last level, and at `#`, which includes the parent level (4.7.1.2).
      const isMatch = depth !== NO_MATCH && (level === undefined || level === '#');
      yield isMatch ? node.value : undefined;
      if (depth === NO_MATCH) continue;
      const nodes = this.#next(node, level);
      if (nodes !== undefined) stack.push({ nodes, depth });
    }
  }

  #next(node: TrieNode<T>, level: string | undefined): Iterator<TrieNode<T>> | undefined {
    if (level === undefined || node.children === undefined) return undefined;
    if (level === '+' || level === '#') {
      // A leading wildcard never matches a name that begins with `$` [MQTT-4.7.2-1].
      return node === this.#root ? withoutDollar(node.children) : node.children.values();
    }
    const child = node.children.get(level);
    return child === undefined ? undefined : [child].values();
  }
}

function* withoutDollar<T>(
  children: ReadonlyMap<string, TrieNode<T>>,
): Generator<TrieNode<T>, void, undefined> {
  for (const [level, child] of children) {
    if (!level.startsWith('$')) yield child;
  }
}

/** The position in the filter after these levels of a name. At a `#` the filter takes no further levels. */
function follow(label: readonly string[], levels: readonly string[], depth: number): number {
  let at = depth;
  for (const level of label) {
    const wanted = levels[at];
    if (wanted === '#') return at;
    if (wanted === undefined || (wanted !== '+' && wanted !== level)) return NO_MATCH;
    at += 1;
  }
  return at;
}
