import { IconArrowDownLeft, IconArrowUpRight } from '@tabler/icons-react';
import { memo, type ReactNode } from 'react';
import { streamFacts } from '../../engine/stream-reading.ts';
import type { LoggedMessage, PublishFate } from '../../engine/types.ts';
import { formatBytes, formatDuration, formatTime, plural } from '../../ui/format.ts';
import { visibleText } from '../../ui/visible-text.ts';
import { useDecoders } from '../decode/decoders/registry.ts';
import type { ColumnId } from './columns.ts';
import { fateWords } from './fate.ts';
import classes from './message-table.module.css';
import { previewOf } from './preview.ts';
import { messagesWords } from './strings.ts';

/** The colour of each subscription, by its id. */
export type RowColors = ReadonlyMap<string, string>;

interface MessageRowProps {
  readonly id: string;
  readonly message: LoggedMessage;
  /** Of the message; it changes, and the message does not. */
  readonly fate: PublishFate | undefined;
  /** Likewise. */
  readonly missingBefore: number;
  readonly rowIndex: number;
  readonly top: number;
  readonly columns: readonly ColumnId[];
  readonly colors: RowColors;
  readonly isSelected: boolean;
  readonly onSelect: (message: LoggedMessage) => void;
}

/** One line of the table. It uses plain elements: up to sixty frames a second render some forty lines. */
export const MessageRow = memo(function MessageRow(props: MessageRowProps) {
  const { id, message, rowIndex, top, columns, colors, isSelected, onSelect } = props;
  // The rows render again when a decoder has been loaded.
  useDecoders(({ loaded }) => loaded);
  const color = colors.get(message.subscriptionIds[0] ?? '');
  return (
    <div
      role="row"
      id={id}
      className={classes.row}
      aria-rowindex={rowIndex}
      aria-selected={isSelected}
      data-direction={message.direction}
      data-fate={message.fate?.state}
      style={{
        transform: `translateY(${top}px)`,
        borderInlineStartColor: color && `var(--mantine-color-${color}-6)`,
      }}
      onPointerDown={() => onSelect(message)}
    >
      {columns.map((column) => (
        <span role="gridcell" data-column={column} key={column}>
          {cell(column, message)}
        </span>
      ))}
    </div>
  );
});

/** Functions and not components: a hook in each cell would run some four hundred times a frame. */
function cell(column: ColumnId, message: LoggedMessage): ReactNode {
  const { latencyMs } = message;
  switch (column) {
    case 'time':
      return time(message);
    case 'topic':
      return visibleText(message.topic.slice(0, CELL_CHARACTERS_MAX));
    case 'payload':
      return previewOf(message);
    case 'qos':
      return message.qos;
    case 'flags':
      return flags(message);
    case 'size':
      return formatBytes(message.payloadLength);
    case 'latency':
      return latencyMs === undefined ? '' : formatDuration(latencyMs);
    case 'position':
      return position(message);
  }
}

/** Characters of a cell: a topic may have 65,535, and no screen shows as many. */
const CELL_CHARACTERS_MAX = 1_000;

function time({ direction, atMs }: LoggedMessage): ReactNode {
  const isOut = direction === 'published';
  const Direction = isOut ? IconArrowUpRight : IconArrowDownLeft;
  return (
    <>
      <Direction size={13} stroke={2} aria-label={isOut ? 'published' : 'received'} />
      {formatTime(atMs)}
    </>
  );
}

/** Only the number: the epoch in front of it is the same in nearly all rows. */
function position({ direction, properties }: LoggedMessage): ReactNode {
  const facts = direction === 'received' ? streamFacts(properties) : undefined;
  return facts && <span title={visibleText(facts.position)}>{facts.number}</span>;
}

function flags({ retain, dup, missingBefore, fate, qos, properties }: LoggedMessage): ReactNode {
  const words = fate && fateWords(fate, qos);
  const kind = fate === undefined ? streamFacts(properties)?.kind : undefined;
  return (
    <>
      {words !== undefined && (
        <abbr className={classes.fate} title={words.long}>
          {words.short}
        </abbr>
      )}
      {kind !== undefined && (
        <abbr className={classes.past} title={messagesWords.streamKinds[kind].long}>
          {messagesWords.streamKinds[kind].short}
        </abbr>
      )}
      {retain && <abbr title="retained">R</abbr>}
      {dup && <abbr title="duplicate">D</abbr>}
      {missingBefore > 0 && (
        <abbr
          className={classes.missing}
          title={`${missingBefore} ${plural(missingBefore, 'message is', 'messages are')} missing before this one`}
        >
          −{missingBefore}
        </abbr>
      )}
    </>
  );
}
