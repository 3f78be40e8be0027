import { Button, Center, EmptyState } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { IconInbox, IconPlayerPlay } from '@tabler/icons-react';
import { useVirtualizer, type VirtualItem } from '@tanstack/react-virtual';
import { type CSSProperties, type KeyboardEvent, type UIEvent, useEffect, useMemo, useRef } from 'react';
import type { ConnectionProfile, LoggedMessage } from '../../engine/types.ts';
import { useLogChanges, useStatus } from '../../state/hooks.ts';
import { useStore } from '../../state/store.ts';
import { plural } from '../../ui/format.ts';
import { SubscribeAll } from '../subscriptions/subscribe-all.tsx';
import { type ColumnId, shownColumns, useColumns } from './columns.ts';
import { MarkRow } from './mark-row.tsx';
import { MarkedRows } from './marked-rows.ts';
import type { MessageList } from './message-list.ts';
import { MessageRow, type RowColors } from './message-row.tsx';
import classes from './message-table.module.css';
import { messagesWords } from './strings.ts';

/**
 * All rows have the same height, so that a hundred thousand of them need no measuring. On a phone, and beside the
 * details, they have two lines: the payload gets the width.
 */
const ROW_HEIGHT = { wide: 26, narrow: 44 } as const;

/** Where the style sheet begins to use two lines. */
const NARROW_PX = 560;

/** Rows beyond the edges, so that a quick scroll shows no gaps. */
const OVERSCAN = 6;

interface MessageTableProps {
  readonly profile: ConnectionProfile;
  readonly list: MessageList;
  readonly selected: LoggedMessage | undefined;
  readonly onSelect: (message: LoggedMessage | undefined) => void;
  readonly isFiltered: boolean;
  /** The error in the query: the shown messages match the previous filter. */
  readonly problem: string | undefined;
}

/**
 * The messages, newest at the top. The list stands still while the pointer is over it, so that a click opens the message
 * that the user sees there. When the user scrolls down or moves by key, it is held until they resume.
 */
export function MessageTable({ profile, list, selected, onSelect, isFiltered, problem }: MessageTableProps) {
  const scroller = useRef<HTMLDivElement>(null);
  useLogChanges(list);
  const { ref: sizer, width } = useElementSize();
  const rowHeight = width > 0 && width <= NARROW_PX ? ROW_HEIGHT.narrow : ROW_HEIGHT.wide;
  const chosen = useColumns(profile.subscriptions);
  const { columns, template, minWidthPx } = useMemo(() => shownColumns(chosen, width), [chosen, width]);
  const rows = new MarkedRows(list);
  const virtualizer = useVirtualizer({
    count: rows.size,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN,
  });
  useEffect(() => {
    if (rowHeight > 0) virtualizer.measure();
  }, [virtualizer, rowHeight]);
  useEffect(() => () => list.unpoint(), [list]);
  const isEmpty = rows.size === 0;
  useEffect(() => {
    if (!isEmpty) useStore.setState({ isMessageShown: true });
  }, [isEmpty]);
  const scrolled = ({ currentTarget }: UIEvent<HTMLElement>): void => {
    if (currentTarget.scrollTop > rowHeight) list.hold();
  };
  const resume = (): void => {
    scroller.current?.scrollTo({ top: 0 });
    list.release();
  };
  const pressed = (event: KeyboardEvent): void => {
    const current = selected === undefined ? undefined : list.indexOf(selected);
    const next = nextIndex(event.key, current, list.size);
    if (event.key === 'Escape') onSelect(undefined);
    if (next === undefined) return;
    event.preventDefault();
    list.hold();
    onSelect(list.at(next));
    virtualizer.scrollToIndex(rows.rowOf(next));
  };
  const items = virtualizer.getVirtualItems();
  const active = selected && items.find(({ index }) => isRowOf(rows, index, selected));
  return (
    <div
      className={classes.wrap}
      ref={sizer}
      onPointerEnter={() => list.point()}
      onPointerMove={() => list.point()}
      onPointerLeave={() => list.unpoint()}
    >
      <NewWhileHeld list={list} onResume={resume} />
      <div
        ref={scroller}
        role="grid"
        className={classes.scroller}
        aria-label="Messages, newest first"
        aria-rowcount={rows.size + 1}
        aria-colcount={columns.length}
        style={{ '--message-columns': template, '--message-row-min': `${minWidthPx}px` } as CSSProperties}
        aria-activedescendant={active && rowId(profile.id, active.index)}
        tabIndex={0}
        onScroll={scrolled}
        onKeyDown={pressed}
      >
        <Head columns={columns} />
        {isEmpty ? (
          <Nothing profile={profile} isFiltered={isFiltered} problem={problem} />
        ) : (
          <div role="rowgroup" className={classes.rows} style={{ height: virtualizer.getTotalSize() }}>
            <Rows {...{ profile, rows, items, columns, selected, onSelect }} />
          </div>
        )}
      </div>
    </div>
  );
}

interface NewWhileHeldProps {
  readonly list: MessageList;
  readonly onResume: () => void;
}

/** How many messages have come while the list is held, as a button that resumes it. */
function NewWhileHeld({ list, onResume }: NewWhileHeldProps) {
  if (!list.isHeld || list.newWhileHeld === 0) return null;
  return (
    <Button
      className={classes.pill}
      size="compact-xs"
      radius="xl"
      leftSection={<IconPlayerPlay size={12} />}
      onClick={onResume}
    >
      {plural(list.newWhileHeld, `${list.newWhileHeld} new message`, `${list.newWhileHeld} new messages`)}
    </Button>
  );
}

interface RowsProps extends Pick<MessageTableProps, 'profile' | 'selected' | 'onSelect'> {
  readonly rows: MarkedRows;
  readonly items: readonly VirtualItem[];
  readonly columns: readonly ColumnId[];
}

/** The rows that are in sight. Their keys are their places, so that a scroll changes rows and makes none. */
function Rows({ profile, rows, items, columns, selected, onSelect }: RowsProps) {
  const colors = useMemo(
    (): RowColors => new Map(profile.subscriptions.map(({ id, color }) => [id, color])),
    [profile.subscriptions],
  );
  return items.map(({ index, start }) => {
    const row = rows.at(index);
    if (row === undefined) return null;
    const key = index - (items[0]?.index ?? 0);
    const place = { rowIndex: index + 2, top: start };
    if (row.type === 'mark')
      return <MarkRow key={key} {...place} columns={columns.length} mark={row.placed.mark} />;
    const { message } = row;
    return (
      <MessageRow
        key={key}
        {...place}
        id={rowId(profile.id, index)}
        message={message}
        fate={message.fate}
        missingBefore={message.missingBefore}
        columns={columns}
        colors={colors}
        isSelected={selected?.sequence === message.sequence}
        onSelect={onSelect}
      />
    );
  });
}

function isRowOf(rows: MarkedRows, index: number, { sequence }: LoggedMessage): boolean {
  const row = rows.at(index);
  return row?.type === 'message' && row.message.sequence === sequence;
}

function rowId(connectionId: string, index: number): string {
  return `message-row-${connectionId}-${index}`;
}

function nextIndex(key: string, current: number | undefined, size: number): number | undefined {
  if (size === 0) return undefined;
  const at = current ?? -1;
  const wanted: Readonly<Record<string, number>> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    PageDown: at + 20,
    PageUp: at - 20,
    Home: 0,
    End: size - 1,
  };
  const next = wanted[key];
  return next === undefined ? undefined : Math.max(0, Math.min(size - 1, next));
}

function Head({ columns }: { readonly columns: readonly ColumnId[] }) {
  return (
    <div role="row" className={classes.head} aria-rowindex={1}>
      {columns.map((column) => (
        <span role="columnheader" key={column} data-column={column}>
          {messagesWords.columns[column]}
        </span>
      ))}
    </div>
  );
}

interface NothingProps {
  readonly profile: ConnectionProfile;
  readonly isFiltered: boolean;
  readonly problem: string | undefined;
}

function Nothing({ profile, isFiltered, problem }: NothingProps) {
  const advice = useAdvice(profile);
  return (
    <Center className={classes.empty} role="row">
      <div role="gridcell">
        <EmptyState
          size="sm"
          icon={<IconInbox stroke={1.5} />}
          title={
            problem !== undefined
              ? 'This cannot be searched for'
              : isFiltered
                ? 'No message fits the filter'
                : 'No message yet'
          }
          description={problem ?? (isFiltered ? '' : advice)}
        >
          {!isFiltered && problem === undefined && <SubscribeAll profile={profile} />}
        </EmptyState>
      </div>
    </Center>
  );
}

/** Filters that are named if no message has come for them; if there are more, the first. */
const NAMED_MAX = 3;

/** Characters of them. */
const NAMED_LENGTH_MAX = 80;

function useAdvice({ id, subscriptions }: ConnectionProfile): string {
  const { phase } = useStatus(id);
  if (phase !== 'connected') return 'Connect first: the button is at the top.';
  const enabled = subscriptions.filter((subscription) => subscription.enabled);
  if (enabled.length === 0) return 'Subscribe to a topic filter, or publish something.';
  const named = enabled.slice(0, NAMED_MAX).map(({ filter }) => filter);
  const filters = `${named.join(', ').slice(0, NAMED_LENGTH_MAX)}${enabled.length > NAMED_MAX ? ' …' : ''}`;
  return `Waiting for ${filters}. Publish something, or subscribe to more.`;
}
