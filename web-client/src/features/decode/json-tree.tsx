import { Button, Group, Text } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { IconChartLine } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { formatExact, plural } from '../../ui/format.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { VirtualTree } from '../../ui/virtual-tree.tsx';
import { visibleText } from '../../ui/visible-text.ts';
import { pathText, type ValuePath } from './json-path.ts';
import { type JsonRow, jsonRows, openAtFirst } from './json-rows.ts';
import classes from './payload-view.module.css';
import { prettyText, previewText } from './pretty.ts';
import { COPIED_CHARACTERS_MAX } from './shown-text.ts';
import { type DecodedValue, ExactNumber, isContainer, numberOf } from './value.ts';

const ROW_HEIGHT = 22;

/** Characters of a value in a line: more does not fit on any screen. */
const PREVIEW_CHARACTERS_MAX = 200;

interface JsonTreeProps {
  readonly value: DecodedValue;
  readonly onChart: (path: ValuePath) => void;
}

/** A value line by line. Open branches stay open when the next message comes. */
export function JsonTree({ value, onChart }: JsonTreeProps) {
  const [open, setOpen] = useState(() => openAtFirst(value));
  const [activeId, setActiveId] = useState<string>();
  const rows = useMemo(() => jsonRows(value, (id) => open.has(id)), [value, open]);
  const active = rows.findIndex(({ id }) => id === activeId);
  const toggle = (index: number, isOpen: boolean): void => {
    const id = rows[index]?.id;
    if (id === undefined) return;
    const changed = new Set(open);
    if (isOpen) changed.add(id);
    else changed.delete(id);
    setOpen(changed);
  };
  const act = (index: number): void => {
    const row = rows[index];
    if (row === undefined) return;
    if (row.entries !== undefined) toggle(index, !row.isOpen);
    else if (isChartable(row.value)) onChart(row.path);
  };
  return (
    <>
      <VirtualTree
        label="Payload"
        count={rows.length}
        rowHeight={ROW_HEIGHT}
        lineAt={(index) => {
          const row = rows[index];
          return row && { ...row, canOpen: (row.entries ?? 0) > 0 };
        }}
        render={(index) => {
          const row = rows[index];
          return row && <Line row={row} onChart={onChart} />;
        }}
        active={active}
        onActive={(index) => setActiveId(rows[index]?.id)}
        onToggle={toggle}
        onAction={act}
      />
      <ActiveLine row={rows[active]} onChart={onChart} />
    </>
  );
}

/** Text that is a number can be charted on request, but has no button. */
function isChartable(value: DecodedValue): boolean {
  return !isContainer(value) && numberOf(value) !== undefined;
}

function isNumber(value: DecodedValue): boolean {
  return typeof value === 'number' || typeof value === 'bigint' || value instanceof ExactNumber;
}

function Line({ row, onChart }: { readonly row: JsonRow; readonly onChart: (path: ValuePath) => void }) {
  const { name, value, level, entries, hidden } = row;
  return (
    <>
      {level > 1 && <span className={classes.name}>{`${shownName(name)}:`}</span>}
      {entries !== undefined ? (
        <span className={classes.container}>
          {row.isOpen ? '' : shownValue(value)}
          <span className={classes.entries}>
            {hidden > 0
              ? `${formatExact(hidden)} more ${plural(hidden, 'entry is', 'entries are')} not shown`
              : plural(entries, `${formatExact(entries)} entry`, `${formatExact(entries)} entries`)}
          </span>
        </span>
      ) : isNumber(value) ? (
        <button
          type="button"
          tabIndex={-1}
          className={classes.number}
          title="Chart this number"
          onClick={() => onChart(row.path)}
        >
          {previewText(value, PREVIEW_CHARACTERS_MAX)}
          <IconChartLine size={13} stroke={1.5} aria-hidden />
        </button>
      ) : (
        <span className={classes.scalar} data-type={typeof value}>
          {shownValue(value)}
        </span>
      )}
    </>
  );
}

function shownName(name: string): string {
  return visibleText(
    name.length > PREVIEW_CHARACTERS_MAX ? `${name.slice(0, PREVIEW_CHARACTERS_MAX)}…` : name,
  );
}

function shownValue(value: DecodedValue): string {
  return visibleText(previewText(value, PREVIEW_CHARACTERS_MAX));
}

/** The path of the selected line, and the actions on it. */
function ActiveLine({
  row,
  onChart,
}: {
  readonly row: JsonRow | undefined;
  readonly onChart: (path: ValuePath) => void;
}) {
  const path = row && pathText(row.path);
  const shown = path === undefined ? '' : shownName(path);
  return (
    <Group gap={2} wrap="nowrap" className={classes.active}>
      {row === undefined ? (
        <Text size="xs" c="dimmed">
          Select a line to copy it; click a number to chart it.
        </Text>
      ) : (
        <>
          <Text size="xs" ff="monospace" className={classes.path} title={shown}>
            {shown}
          </Text>
          {isChartable(row.value) && (
            <IconButton label={`Chart ${shown}`} onClick={() => onChart(row.path)}>
              <IconChartLine size={16} stroke={1.5} />
            </IconButton>
          )}
          <CopyText text={() => path ?? ''} label="Copy path" />
          <CopyText
            text={() =>
              typeof row.value === 'string' ? row.value : prettyText(row.value, COPIED_CHARACTERS_MAX)
            }
            label="Copy value"
          />
        </>
      )}
    </Group>
  );
}

/** In words: two icons for copying would look the same. */
function CopyText({ text, label }: { readonly text: () => string; readonly label: string }) {
  const { copy, copied } = useClipboard({ timeout: 1_500 });
  return (
    <Button size="compact-xs" variant="subtle" className={classes.copy} onClick={() => copy(text())}>
      {copied ? 'Copied' : label}
    </Button>
  );
}
