import { IconAlertTriangle, IconHistory, IconPlugConnectedX } from '@tabler/icons-react';
import type { LogMark } from '../../engine/types.ts';
import { t } from '../../i18n/index.ts';
import { formatExact, formatSeconds, formatTime } from '../../ui/format.ts';
import { visibleText } from '../../ui/visible-text.ts';
import classes from './message-table.module.css';

interface MarkRowProps {
  readonly mark: LogMark;
  /** The number of columns that it spans. */
  readonly columns: number;
  readonly rowIndex: number;
  readonly top: number;
}

/** Shows a gap, at its place. */
export function MarkRow({ mark, columns, rowIndex, top }: MarkRowProps) {
  const words = markWords(mark);
  const look = lookOf(mark);
  const Icon = ICONS[look] ?? IconAlertTriangle;
  return (
    <div
      role="row"
      className={classes.mark}
      data-mark={look}
      aria-rowindex={rowIndex}
      style={{ transform: `translateY(${top}px)` }}
    >
      <span role="gridcell" aria-colspan={columns} title={words}>
        <Icon size={14} stroke={1.75} aria-hidden />
        <span className={classes.markTime}>{formatTime(mark.atMs)}</span>
        <span className={classes.markWords}>{words}</span>
      </span>
    </div>
  );
}

const ICONS: Readonly<Record<string, typeof IconAlertTriangle>> = {
  away: IconPlugConnectedX,
  recovered: IconHistory,
};

/** A closed gap is shown as good news. */
function lookOf(mark: LogMark): string {
  if (mark.kind !== 'stream') return mark.kind;
  return mark.isRecovered ? 'recovered' : 'gap';
}

/** Reasons with their own advice. */
const REASONS = ['queue_full', 'qos0_msg', 'too_large', 'not_authorized', 'identity_expired'] as const;

function markWords(mark: LogMark): string {
  if (mark.kind === 'skipped')
    return t('messages.marks.skipped', { count: mark.count, number: formatExact(mark.count) });
  if (mark.kind === 'reloaded') return t('messages.marks.reloaded');
  if (mark.kind === 'away') {
    const duration = formatSeconds(mark.atMs - mark.fromMs);
    const reading = mark.readsStreams === true ? 'Reading' : '';
    return t(`messages.marks.away${mark.sessionPresent ? 'Resumed' : 'New'}${reading}`, { duration });
  }
  if (mark.kind === 'stream') {
    const filter = visibleText(mark.filter);
    return mark.isRecovered
      ? t('messages.marks.recovered', { filter, count: mark.count, number: formatExact(mark.count) })
      : t('messages.marks.gap', { filter });
  }
  const known = REASONS.filter((why) => (mark.reasons[why] ?? 0) > 0);
  const rest = mark.count - known.reduce((sum, why) => sum + (mark.reasons[why] ?? 0), 0);
  const parts: string[] = known.map((why) => {
    const count = mark.reasons[why] ?? 0;
    return t(`messages.marks.${why}`, { count, number: formatExact(count) });
  });
  if (rest > 0) parts.push(t('messages.marks.dropped', { count: rest, number: formatExact(rest) }));
  return parts.join(' · ');
}
