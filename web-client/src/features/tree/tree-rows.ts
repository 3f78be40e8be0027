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

/** Which nodes are open. */
export interface OpenNodes {
  has(node: TopicNode): boolean;
}

/** The lines from the root down, as far as nodes are open; with a search, what it has found and what is above. */
export function treeRows(root: TopicNode, open: OpenNodes, search: SearchResult | undefined): TreeRow[] {
  const rows: TreeRow[] = [];
  addChildren(rows, root, open, search);
  return rows;
}

function addChildren(
  rows: TreeRow[],
  parent: TopicNode,
  open: OpenNodes,
  search: SearchResult | undefined,
): void {
  const children =
    search === undefined
      ? parent.children
      : parent.children.filter((node) => search.matches.has(node) || search.above.has(node));
  let position = 0;
  for (const node of children) {
    position += 1;
    const canOpen = search === undefined ? node.childCount > 0 : search.above.has(node);
    const isOpen = canOpen && open.has(node);
    rows.push({ node, position, siblings: children.length, canOpen, isOpen });
    if (isOpen) addChildren(rows, node, open, search);
  }
}
