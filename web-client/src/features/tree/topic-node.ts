/** A level of the tree. It is also a topic if messages came for exactly this level. */
export class TopicNode {
  readonly name: string;
  readonly parent: TopicNode | undefined;
  /** 0 for the root, which has no name. */
  readonly level: number;
  readonly sortKey: string;
  /** The whole topic name, once a message came for it. */
  topic: string | undefined = undefined;
  messages = 0;
  lastAtMs = 0;
  /** Length of the last payload, of which the slab keeps the beginning. */
  lastLength = 0;
  slot = -1;
  isRetained = false;
  /** The counts of this node and all below it. */
  topicsBelow = 0;
  messagesBelow = 0;
  retainedBelow = 0;
  lastAtMsBelow = 0;
  #children: Map<string, TopicNode> | undefined = undefined;
  #sorted: TopicNode[] = NONE;
  #unsorted: TopicNode[] = NONE;

  constructor(name: string, parent: TopicNode | undefined) {
    this.name = name;
    this.parent = parent;
    this.level = parent === undefined ? 0 : parent.level + 1;
    this.sortKey = sortKeyOf(name);
  }

  get childCount(): number {
    return this.#children?.size ?? 0;
  }

  child(name: string): TopicNode | undefined {
    return this.#children?.get(name);
  }

  addChild(name: string): TopicNode {
    const child = new TopicNode(name, this);
    this.#children ??= new Map();
    this.#children.set(name, child);
    if (this.#unsorted === NONE) this.#unsorted = [];
    this.#unsorted.push(child);
    return child;
  }

  /** In natural order: `room-2` before `room-10`. Sorted on demand, and only new names. */
  get children(): readonly TopicNode[] {
    if (this.#unsorted.length > 0) {
      const added = this.#unsorted.sort(byOrder);
      this.#sorted = this.#sorted.length === 0 ? added : merged(this.#sorted, added);
      this.#unsorted = NONE;
    }
    return this.#sorted;
  }

  /** The names from the root down, which is the topic name, or the beginning of one. */
  get path(): string {
    if (this.topic !== undefined) return this.topic;
    const names: string[] = [];
    for (let node: TopicNode = this; node.parent !== undefined; node = node.parent) names.push(node.name);
    return names.reverse().join('/');
  }
}

/** Shared by all nodes without such entries; never written to. */
const NONE: TopicNode[] = [];

function byOrder(a: TopicNode, b: TopicNode): number {
  if (a.sortKey !== b.sortKey) return a.sortKey < b.sortKey ? -1 : 1;
  // `7` and `007`
  return a.name < b.name ? -1 : 1;
}

function merged(a: readonly TopicNode[], b: readonly TopicNode[]): TopicNode[] {
  const both: TopicNode[] = [];
  let nextOfB = 0;
  for (const node of a) {
    for (let other = b[nextOfB]; other !== undefined && byOrder(other, node) < 0; other = b[nextOfB]) {
      both.push(other);
      nextOfB += 1;
    }
    both.push(node);
  }
  return both.concat(b.slice(nextOfB));
}

const DIGITS = /\d+/g;

/**
 * Each run of digits with its length in front, so that plain comparison puts 2 before 10. A collator is ten times as
 * slow.
 */
function sortKeyOf(name: string): string {
  return name.replace(DIGITS, (digits) => {
    const significant = digits.replace(/^0+(?=\d)/, '');
    return String.fromCharCode('0'.charCodeAt(0) + Math.min(significant.length, 64)) + significant;
  });
}
