import type { TreeLine } from './virtual-tree.tsx';

/** The effect of a key in a tree. */
export type TreeStep =
  | { readonly type: 'go'; readonly index: number }
  | { readonly type: 'toggle'; readonly isOpen: boolean }
  | { readonly type: 'action' };

/**
 * Maps a key to its action in ARIA's tree pattern: the arrows to the sides open and close, or go in and out.
 * @param active the line that is selected, or -1
 * @param page how many lines are on a page
 */
export function treeKey(
  key: string,
  active: number,
  count: number,
  page: number,
  lineAt: (index: number) => TreeLine | undefined,
): TreeStep | undefined {
  if (count === 0) return undefined;
  const go = (index: number): TreeStep => ({ type: 'go', index: Math.max(0, Math.min(count - 1, index)) });
  if (key === 'ArrowDown') return go(active + 1);
  if (key === 'ArrowUp') return go(active - 1);
  if (key === 'PageDown') return go(active + page);
  if (key === 'PageUp') return go(active - page);
  if (key === 'Home') return go(0);
  if (key === 'End') return go(count - 1);
  const line = lineAt(active);
  if (line === undefined) return undefined;
  if (key === 'Enter') return { type: 'action' };
  if (key === ' ' && line.canOpen) return { type: 'toggle', isOpen: !line.isOpen };
  if (key === 'ArrowRight' && line.canOpen) {
    return line.isOpen ? go(active + 1) : { type: 'toggle', isOpen: true };
  }
  if (key === 'ArrowLeft') {
    if (line.isOpen) return { type: 'toggle', isOpen: false };
    const parent = parentOf(active, line.level, lineAt);
    return parent === undefined ? undefined : go(parent);
  }
  return undefined;
}

/** The line above it that is one level higher. */
function parentOf(
  index: number,
  level: number,
  lineAt: (index: number) => TreeLine | undefined,
): number | undefined {
  if (level === 1) return undefined;
  for (let above = index - 1; above >= 0; above -= 1) {
    if ((lineAt(above)?.level ?? 0) < level) return above;
  }
  return undefined;
}
