import { Splitter, type SplitterProps } from '@mantine/core';
import type { SplitterPaneSize } from '@mantine/hooks';
import { setLayout, useLayout } from '../../state/layout.ts';

interface KeptSplitterProps extends Omit<SplitterProps, 'sizes' | 'onSizeChange'> {
  /** The key under which the size of its fixed pane is stored. */
  readonly kept: 'subscriptionsPx' | 'publishPx';
  /** The size of that pane until it is dragged. */
  readonly usualPx: number;
  /** Which of the two panes is fixed; undefined while there is only the other one. */
  readonly place: 0 | 1 | undefined;
  /** The name of the pane that its line resizes, for screen readers. */
  readonly label: string;
}

/** Two panes: one has a fixed size, which is stored across a reload, and the other takes the remaining room. */
export function KeptSplitter({ kept, usualPx, place, label, ...props }: KeptSplitterProps) {
  const px = useLayout((layout) => layout[kept]) ?? usualPx;
  const sizes: SplitterPaneSize[] = place === undefined ? [100] : [100, 100].with(place, 0);
  return (
    <Splitter
      {...props}
      attributes={{ handle: { 'aria-label': label } }}
      sizes={sizes.map((size, index): SplitterPaneSize => (index === place ? `${px}px` : size))}
      onSizeChange={(changed) => {
        const size = place === undefined ? undefined : changed[place];
        if (size !== undefined) setLayout({ [kept]: Math.round(Number.parseFloat(String(size))) });
      }}
    />
  );
}
