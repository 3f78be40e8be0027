import type { SearchResult } from './search.ts';
import type { TopicNode } from './topic-node.ts';

/** A line of the tree. */
export interface TreeRow {
  readonly node: TopicNode;
  /** From 1, as ARIA counts. */
  readonly position: number;
  readonly siblings: number;
  readonly canOpen: boolean;
  readonly isOpen: boolean;
}

export interface OpenNodes {
  has(node: TopicNode): boolean;
}

const CAN_OPEN = 1;
const IS_OPEN = 2;

/**
 * The lines from the root down, with the open nodes; with a search, its matches and their ancestors. They are columns:
 * creating a list of two hundred thousand objects would take longer than a frame.
 */
export class TreeRows {
  readonly #nodes: TopicNode[] = [];
  readonly #positions: number[] = [];
  readonly #siblings: number[] = [];
  readonly #flags: number[] = [];

  constructor(root: TopicNode, open: OpenNodes, search: SearchResult | undefined) {
    this.#addChildren(root, open, search);
  }

  get length(): number {
    return this.#nodes.length;
  }

  at(index: number): TreeRow | undefined {
    const node = this.#nodes[index];
    if (node === undefined) return undefined;
    const flags = this.#flags[index] ?? 0;
    return {
      node,
      position: this.#positions[index] ?? 0,
      siblings: this.#siblings[index] ?? 0,
      canOpen: (flags & CAN_OPEN) !== 0,
      isOpen: (flags & IS_OPEN) !== 0,
    };
  }

  indexOf(node: TopicNode): number {
    return this.#nodes.indexOf(node);
  }

  #addChildren(parent: TopicNode, open: OpenNodes, search: SearchResult | undefined): void {
    const children =
      search === undefined
        ? parent.children
        : parent.children.filter((node) => search.matches.has(node) || search.above.has(node));
    let position = 0;
    for (const node of children) {
      position += 1;
      const canOpen = search === undefined ? node.childCount > 0 : search.above.has(node);
      const isOpen = canOpen && open.has(node);
      this.#nodes.push(node);
      this.#positions.push(position);
      this.#siblings.push(children.length);
      this.#flags.push((canOpen ? CAN_OPEN : 0) | (isOpen ? IS_OPEN : 0));
      if (isOpen) this.#addChildren(node, open, search);
    }
  }
}
