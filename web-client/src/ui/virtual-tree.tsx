import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef } from 'react';
import classes from './virtual-tree.module.css';
import { treeKey } from './virtual-tree-keys.ts';

/** The ARIA attributes of a line of a tree. */
export interface TreeLine {
  /** From 1. */
  readonly level: number;
  readonly position: number;
  readonly siblings: number;
  readonly canOpen: boolean;
  readonly isOpen: boolean;
}

interface VirtualTreeProps {
  /** Its name for screen readers. */
  readonly label: string;
  readonly count: number;
  readonly rowHeight: number;
  readonly lineAt: (index: number) => TreeLine | undefined;
  readonly render: (index: number) => ReactNode;
  /** The line that is selected, or -1. */
  readonly active: number;
  readonly onActive: (index: number) => void;
  readonly onToggle: (index: number, isOpen: boolean) => void;
  /** Enter, or a double click. */
  readonly onAction?: ((index: number) => void) | undefined;
  /** A key that the tree does not handle. Called with the selected line. */
  readonly onKey?: ((event: KeyboardEvent, index: number) => void) | undefined;
}

/** Rows beyond the edges, so that a quick scroll shows no gaps. */
const OVERSCAN = 8;

/** A pixel of indentation more for each level. */
const INDENT_PX = 16;

/**
 * A tree of any size, of which only the visible lines are rendered. The keys are those of ARIA's tree pattern; the
 * focus stays on the tree, which names its active line.
 */
export function VirtualTree(props: VirtualTreeProps) {
  const { label, count, rowHeight, lineAt, render, active, onActive, onToggle, onAction, onKey } = props;
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN,
  });
  useEffect(() => {
    if (rowHeight > 0) virtualizer.measure();
  }, [virtualizer, rowHeight]);
  const goTo = (index: number): void => {
    onActive(index);
    virtualizer.scrollToIndex(index);
  };
  const pressed = (event: KeyboardEvent): void => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 1);
    const step = treeKey(event.key, active, count, page, lineAt);
    if (step === undefined) {
      onKey?.(event, active);
      return;
    }
    event.preventDefault();
    if (step.type === 'go') goTo(step.index);
    else if (step.type === 'toggle') onToggle(active, step.isOpen);
    else onAction?.(active);
  };
  const items = virtualizer.getVirtualItems();
  const activeItem = items.find(({ index }) => index === active);
  return (
    <div
      ref={scroller}
      role="tree"
      aria-label={label}
      aria-activedescendant={activeItem && `${id}-${active}`}
      className={classes.tree}
      tabIndex={0}
      onKeyDown={pressed}
    >
      <div role="none" className={classes.rows} style={{ height: virtualizer.getTotalSize() }}>
        {items.map(({ index, start }) => {
          const line = lineAt(index);
          // The element of a line that scrolls out is reused for one that scrolls in: cheaper than a new element.
          const slot = index % items.length;
          return (
            line !== undefined && (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the tree has the keys
              // biome-ignore lint/a11y/useFocusableInteractive: the tree has the focus
              <div
                key={slot}
                id={`${id}-${index}`}
                role="treeitem"
                aria-level={line.level}
                aria-posinset={line.position}
                aria-setsize={line.siblings}
                aria-selected={index === active}
                aria-expanded={line.canOpen ? line.isOpen : undefined}
                className={classes.row}
                style={{
                  height: rowHeight,
                  paddingInlineStart: 6 + (line.level - 1) * INDENT_PX,
                  transform: `translateY(${start}px)`,
                }}
                onClick={() => onActive(index)}
                onDoubleClick={() => (line.canOpen ? onToggle(index, !line.isOpen) : onAction?.(index))}
              >
                <Chevron line={line} toggle={() => onToggle(index, !line.isOpen)} />
                {render(index)}
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}

/** For the mouse only: `aria-expanded` and the arrow keys do the same. */
function Chevron({ line, toggle }: { readonly line: TreeLine; readonly toggle: () => void }) {
  return (
    <span
      aria-hidden
      className={classes.chevron}
      data-can-open={line.canOpen || undefined}
      data-open={line.isOpen || undefined}
      onClick={(event) => {
        if (!line.canOpen) return;
        event.stopPropagation();
        toggle();
      }}
      onDoubleClick={(event) => event.stopPropagation()}
    />
  );
}
