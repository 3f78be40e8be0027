class Node<T> {
  readonly children = new Map<string, Node<T>>();
  value: T | undefined;
}

/** Nodes whose levels match the first `depth` levels of a filter. */
interface Frontier<T> {
  nodes: Iterator<Node<T>>;
  depth: number;
}

/**
 * Topic Names and a value for each; `match` finds the values of all names that a Topic Filter matches.
 *
 * It is the retained messages' side of matching: only the branches that the filter leads to are walked, with a
 * stack of its own, so a name of many levels cannot overflow the engine's.
 */
export class TopicTree<T extends NonNullable<unknown>> {
  readonly #root = new Node<T>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(topicName: string): T | undefined {
    let node: Node<T> | undefined = this.#root;
    for (const level of topicName.split('/')) node = node?.children.get(level);
    return node?.value;
  }

  set(topicName: string, value: T): void {
    let node = this.#root;
    for (const level of topicName.split('/')) {
      let child = node.children.get(level);
      if (child === undefined) {
        child = new Node<T>();
        node.children.set(level, child);
      }
      node = child;
    }
    if (node.value === undefined) this.#size += 1;
    node.value = value;
  }

  /** Whether the name was there. */
  delete(topicName: string): boolean {
    const levels = topicName.split('/');
    const path: Node<T>[] = [this.#root];
    for (const level of levels) {
      const child = path.at(-1)?.children.get(level);
      if (child === undefined) return false;
      path.push(child);
    }
    const node = path.at(-1);
    if (node?.value === undefined) return false;
    node.value = undefined;
    this.#size -= 1;
    prune(path, levels);
    return true;
  }

  /** Lazily, in no particular order. A value set or deleted meanwhile may or may not be seen. */
  *match(filter: string): Generator<T, void, undefined> {
    const levels = filter.split('/');
    const stack: Frontier<T>[] = [{ nodes: [this.#root].values(), depth: 0 }];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const { value: node, done } = top.nodes.next();
      if (done) {
        stack.pop();
        continue;
      }
      const level = levels[top.depth];
      // Behind the last level, and at `#`, which includes the parent level (4.7.1.2).
      if ((level === undefined || level === '#') && node.value !== undefined) yield node.value;
      const next = this.#next(node, level);
      if (next !== undefined) stack.push({ nodes: next, depth: level === '#' ? top.depth : top.depth + 1 });
    }
  }

  #next(node: Node<T>, level: string | undefined): Iterator<Node<T>> | undefined {
    if (level === undefined) return undefined;
    if (level === '+' || level === '#') {
      // A leading wildcard never matches a name that begins with `$` [MQTT-4.7.2-1].
      return node === this.#root ? withoutDollar(node) : node.children.values();
    }
    const child = node.children.get(level);
    return child === undefined ? undefined : [child].values();
  }
}

function* withoutDollar<T>(node: Node<T>): Generator<Node<T>, void, undefined> {
  for (const [level, child] of node.children) {
    if (!level.startsWith('$')) yield child;
  }
}

/** Removes the nodes that neither have a value nor lead to one, from the end of the path up. */
function prune<T>(path: readonly Node<T>[], levels: readonly string[]): void {
  for (let depth = levels.length; depth > 0; depth -= 1) {
    const node = path[depth];
    const level = levels[depth - 1];
    if (node === undefined || level === undefined || node.value !== undefined || node.children.size > 0)
      return;
    path[depth - 1]?.children.delete(level);
  }
}
