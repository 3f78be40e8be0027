import { useMediaQuery } from '@mantine/hooks';
import type { MessageLog } from '../../engine/types.ts';
import { formatCount, plural } from '../../ui/format.ts';
import { VirtualTree } from '../../ui/virtual-tree.tsx';
import { visibleText } from '../../ui/visible-text.ts';
import type { TopicNode } from './topic-node.ts';
import type { TopicTree } from './topic-tree.ts';
import type { TreeRows } from './tree-rows.ts';
import classes from './tree-view.module.css';
import { valuePreview } from './value-preview.ts';

/** Where fingers point, lines are higher (WCAG 2.2, 2.5.8). */
const ROW_HEIGHT = { fine: 24, coarse: 36 } as const;

/** How long a line is marked after a message, in milliseconds. */
const FRESH_MS = 1_000;

interface TopicLinesProps {
  readonly tree: TopicTree;
  readonly rows: TreeRows;
  readonly log: MessageLog;
}

/** The lines of the tree that are in sight. */
export function TopicLines({ tree, rows, log }: TopicLinesProps) {
  const isCoarse = useMediaQuery('(pointer: coarse)');
  const now = Date.now();
  const active = tree.selected === undefined ? -1 : rows.indexOf(tree.selected);
  const toggle = (index: number, isOpen: boolean): void => {
    const node = rows.at(index)?.node;
    if (node !== undefined) tree.toggle(node, isOpen);
  };
  return (
    <VirtualTree
      label="Topics"
      count={rows.length}
      rowHeight={isCoarse ? ROW_HEIGHT.coarse : ROW_HEIGHT.fine}
      lineAt={(index) => {
        const row = rows.at(index);
        return row && { ...row, level: row.node.level };
      }}
      render={(index) => {
        const node = rows.at(index)?.node;
        return node && <Line tree={tree} node={node} now={now} />;
      }}
      active={active}
      onActive={(index) => tree.select(rows.at(index)?.node, log)}
      onToggle={toggle}
      onAction={(index) => {
        const row = rows.at(index);
        if (row?.canOpen === true) toggle(index, !row.isOpen);
      }}
    />
  );
}

interface LineProps {
  readonly tree: TopicTree;
  readonly node: TopicNode;
  readonly now: number;
}

function Line({ tree, node, now }: LineProps) {
  const { name, topic, isRetained, topicsBelow, messagesBelow } = node;
  const isInner = node.childCount > 0;
  return (
    <>
      <span className={classes.name} data-fresh={now - node.lastAtMsBelow < FRESH_MS || undefined}>
        {name === '' ? '(empty)' : visibleText(name)}
      </span>
      {isRetained && (
        <abbr className={classes.retained} title="retained">
          R
        </abbr>
      )}
      {topic !== undefined && (
        <span className={classes.value}>{valuePreview(tree.index.valueOf(node), node.lastLength)}</span>
      )}
      <span className={classes.counts}>
        {isInner &&
          `${plural(topicsBelow, `${formatCount(topicsBelow)} topic`, `${formatCount(topicsBelow)} topics`)} · `}
        {`${formatCount(messagesBelow)} ${plural(messagesBelow, 'message', 'messages')}`}
      </span>
    </>
  );
}
