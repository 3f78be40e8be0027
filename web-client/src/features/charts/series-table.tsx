import { IconEye, IconEyeOff, IconX } from '@tabler/icons-react';
import { Fragment } from 'react';
import { formatCount, formatDuration, formatTime, plural } from '../../ui/format.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { usePlotColors } from '../../ui/plot.tsx';
import { visibleText } from '../../ui/visible-text.ts';
import { pathText } from '../decode/json-path.ts';
import { recordingOf, removeSeries, toggleSeries } from './charts-store.ts';
import classes from './charts-view.module.css';
import { type Series, scaleOf, type TimeRange } from './series.ts';
import { statisticsOf } from './statistics.ts';
import { chartsWords } from './strings.ts';

interface SeriesTableProps {
  readonly series: readonly Series[];
  readonly range: TimeRange;
  /** The time under the cursor. */
  readonly cursorAtMs: number | undefined;
  /** Names of connections, if the series belong to several. */
  readonly connectionNames: ReadonlyMap<string, string> | undefined;
}

const number = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 6 });

/** The series in numbers: exact values, also for users who cannot see the chart. */
export function SeriesTable({ series, range, cursorAtMs, connectionNames }: SeriesTableProps) {
  return (
    <table className={classes.table} aria-label="Series">
      <thead>
        <tr>
          <th scope="col">Series</th>
          <th scope="col">{cursorAtMs === undefined ? 'Last' : formatTime(cursorAtMs)}</th>
          <th scope="col">Min</th>
          <th scope="col">Mean</th>
          <th scope="col">Max</th>
          <th scope="col">Samples</th>
          <td />
        </tr>
      </thead>
      <tbody>
        {series.map((one, index) => (
          <Row
            key={one.id}
            series={one}
            index={index}
            range={range}
            cursorAtMs={cursorAtMs}
            connectionName={connectionNames?.get(one.connectionId)}
          />
        ))}
      </tbody>
    </table>
  );
}

interface RowProps extends Pick<SeriesTableProps, 'range' | 'cursorAtMs'> {
  readonly series: Series;
  readonly index: number;
  readonly connectionName: string | undefined;
}

function Row({ series, index, range, cursorAtMs, connectionName }: RowProps) {
  const { lines } = usePlotColors();
  const recording = recordingOf(series);
  const statistics = recording && statisticsOf(recording.samples, range.fromMs, range.toMs);
  const { source, topicFilter, isHidden } = series;
  const what = source.kind === 'value' ? pathText(source.path) : chartsWords.sources[source.kind];
  const name = `${visibleText(topicFilter)} ${what}`;
  const shown = (value: number | undefined): string => {
    if (value === undefined) return '–';
    return scaleOf(series) === 'milliseconds' ? formatDuration(value) : number.format(value);
  };
  const current = cursorAtMs === undefined ? statistics?.last : valueNear(series, cursorAtMs);
  const notes = [
    ...(recording !== undefined && recording.withoutNumber > 0
      ? [
          `${recording.withoutNumber} ${plural(recording.withoutNumber, 'message', 'messages')} had no number there`,
        ]
      : []),
    ...(recording !== undefined && recording.notDecoded > 0
      ? [
          `${recording.notDecoded} ${plural(recording.notDecoded, 'message was', 'messages were')} left out: too large, or too many at once`,
        ]
      : []),
    ...(recording !== undefined && recording.samples.total > recording.samples.size
      ? [`The newest ${recording.samples.capacity} samples are kept.`]
      : []),
  ];
  return (
    <tr data-hidden={isHidden || undefined}>
      <th scope="row">
        <span className={classes.seriesCell}>
          <span className={classes.swatch} style={{ background: lines[index % lines.length] }} />
          <span className={classes.seriesName}>
            {connectionName !== undefined && <span className={classes.dimmed}>{connectionName} · </span>}
            <Topic filter={topicFilter} /> <span className={classes.path}>{what}</span>
            {notes.length > 0 && <span className={classes.notes}>{notes.join(' · ')}</span>}
          </span>
        </span>
      </th>
      <td>{shown(current)}</td>
      <td>{shown(statistics?.min)}</td>
      <td>{shown(statistics?.mean)}</td>
      <td>{shown(statistics?.max)}</td>
      <td>{formatCount(statistics?.count ?? 0)}</td>
      <td>
        <span className={classes.actions}>
          <IconButton
            label={isHidden ? `Show ${name}` : `Hide ${name}`}
            onClick={() => toggleSeries(series.id)}
          >
            {isHidden ? <IconEyeOff size={15} stroke={1.5} /> : <IconEye size={15} stroke={1.5} />}
          </IconButton>
          <IconButton label={`Remove ${name}`} onClick={() => removeSeries(series.id)}>
            <IconX size={15} stroke={1.5} />
          </IconButton>
        </span>
      </td>
    </tr>
  );
}

/** It breaks between its levels. */
function Topic({ filter }: { readonly filter: string }) {
  return visibleText(filter)
    .split(/(?<=\/)/)
    .map((level, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: levels have no other name, and their order stays
      <Fragment key={index}>
        {level}
        <wbr />
      </Fragment>
    ));
}

/** The sample that is nearest to a time. */
function valueNear(series: Series, atMs: number): number | undefined {
  const samples = recordingOf(series)?.samples;
  if (samples === undefined || samples.size === 0) return undefined;
  const after = Math.min(samples.size - 1, samples.indexOf(atMs));
  const before = Math.max(0, after - 1);
  const isBefore = Math.abs(samples.timeAt(before) - atMs) < Math.abs(samples.timeAt(after) - atMs);
  return samples.valueAt(isBefore ? before : after);
}
