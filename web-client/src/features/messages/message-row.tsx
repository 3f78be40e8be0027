import { IconArrowDownLeft, IconArrowUpRight } from '@tabler/icons-react';
import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import type { LoggedMessage } from '../../engine/types.ts';
import { formatBytes, formatDuration, formatTime } from '../../ui/format.ts';
import classes from './message-table.module.css';
import { previewOf } from './preview.ts';

/** The colour of each subscription, by its id. */
export type RowColors = ReadonlyMap<string, string>;

interface MessageRowProps {
  readonly id: string;
  readonly message: LoggedMessage;
  readonly rowIndex: number;
  readonly top: number;
  readonly colors: RowColors;
  readonly isSelected: boolean;
  readonly onSelect: (message: LoggedMessage) => void;
}

/** One line of the table. Plain elements: up to sixty frames a second render some forty of them. */
export const MessageRow = memo(function MessageRow(props: MessageRowProps) {
  const { id, message, rowIndex, top, colors, isSelected, onSelect } = props;
  const { t } = useTranslation();
  const isOut = message.direction === 'published';
  const Direction = isOut ? IconArrowUpRight : IconArrowDownLeft;
  const color = colors.get(message.subscriptionIds[0] ?? '');
  return (
    <div
      role="row"
      id={id}
      className={classes.row}
      aria-rowindex={rowIndex}
      aria-selected={isSelected}
      data-direction={message.direction}
      style={{
        transform: `translateY(${top}px)`,
        borderInlineStartColor: color && `var(--mantine-color-${color}-6)`,
      }}
      onPointerDown={() => onSelect(message)}
    >
      <Cell column="time">
        <Direction size={13} stroke={2} aria-label={t(isOut ? 'messages.published' : 'messages.received')} />
        {formatTime(message.atMs)}
      </Cell>
      <Cell column="topic">{message.topic}</Cell>
      <Cell column="payload">{previewOf(message)}</Cell>
      <Cell column="qos">{message.qos}</Cell>
      <Cell column="flags">
        {message.retain && <abbr title={t('messages.retain')}>R</abbr>}
        {message.dup && <abbr title={t('messages.dup')}>D</abbr>}
        {message.missingBefore > 0 && (
          <abbr className={classes.missing} title={t('messages.missing', { count: message.missingBefore })}>
            −{message.missingBefore}
          </abbr>
        )}
      </Cell>
      <Cell column="size">{formatBytes(message.payloadLength)}</Cell>
      <Cell column="latency">{message.latencyMs === undefined ? '' : formatDuration(message.latencyMs)}</Cell>
    </div>
  );
});

function Cell({ column, children }: { readonly column: string; readonly children: React.ReactNode }) {
  return (
    <span role="gridcell" data-column={column}>
      {children}
    </span>
  );
}
