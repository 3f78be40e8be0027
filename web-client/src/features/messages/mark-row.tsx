import { IconAlertTriangle, IconHistory, IconPlugConnectedX } from '@tabler/icons-react';
import type { LogMark } from '../../engine/types.ts';
import { formatExact, formatSeconds, formatTime, plural } from '../../ui/format.ts';
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

/** The reasons that have their own advice, each with what a number of messages is dropped for. */
const DROPPED: Readonly<Record<string, (messages: string) => string>> = {
  queue_full: (messages) =>
    `${messages} for this client: read faster, use QoS 0, or raise --queue-length-max`,
  qos0_msg: (messages) =>
    `${messages} at QoS 0 that this client did not read in time: read faster, subscribe to less, or use QoS 1`,
  too_large: (messages) => `${messages} larger than this client takes: raise its Maximum Packet Size`,
  not_authorized: (messages) => `${messages} that this client may not read any more`,
  identity_expired: (messages) => `${messages}, since what this client logged in with has expired`,
};

function markWords(mark: LogMark): string {
  if (mark.kind === 'skipped')
    return `This page was too busy to take ${messagesOf(mark.count)}: pause it, or subscribe to less`;
  if (mark.kind === 'reloaded')
    return 'Kept from before the reload; what came while the page was closed is missing';
  if (mark.kind === 'away') return awayWords(mark);
  if (mark.kind === 'stream') {
    const filter = visibleText(mark.filter);
    const follow = plural(mark.count, 'missed message follows', 'missed messages follow');
    return mark.isRecovered
      ? `${filter}: no gap, ${formatExact(mark.count)} ${follow}`
      : `${filter}: messages may be missing that the broker cannot bring back`;
  }
  const known = Object.keys(DROPPED).filter((why) => (mark.reasons[why] ?? 0) > 0);
  const rest = mark.count - known.reduce((sum, why) => sum + (mark.reasons[why] ?? 0), 0);
  const parts = known.map((why) => DROPPED[why]?.(messagesOf(mark.reasons[why] ?? 0)));
  if (rest > 0) parts.push(`${messagesOf(rest)} for this client`);
  return parts.map((part) => `The broker dropped ${part}`).join(' · ');
}

function awayWords({
  atMs,
  fromMs,
  sessionPresent,
  readsStreams,
}: LogMark & { readonly kind: 'away' }): string {
  const session = sessionPresent ? 'the session went on' : 'a new session';
  const reads = readsStreams === true;
  const missing = sessionPresent
    ? reads
      ? 'of what came at QoS 0 only streams bring it'
      : 'what came meanwhile at QoS 0 is missing, the rest follows'
    : reads
      ? 'only streams bring what came meanwhile'
      : 'what came meanwhile is missing';
  return `Away for ${formatSeconds(atMs - fromMs)}, ${session}: ${missing}`;
}

function messagesOf(count: number): string {
  return plural(count, '1 message', `${formatExact(count)} messages`);
}
