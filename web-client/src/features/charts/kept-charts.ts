import { flag, membersOf, oneOf, text } from '../../engine/read-members.ts';
import { isRecording } from '../../state/recording-ids.ts';
import { readStored, writeStored } from '../../state/stored.ts';
import { SERIES_MAX, WINDOW_SECONDS } from './limits.ts';
import type { SampleSource, Series } from './series.ts';

const KEY = 'apus.charts';

/** Most steps in the path of a stored series. */
const PATH_LENGTH_MAX = 100;

/** The charted numbers; their samples come from the messages in the logs. */
export interface KeptCharts {
  readonly series: readonly Series[];
  readonly windowSeconds: number;
  readonly isSplit: boolean;
}

export function keptCharts(): KeptCharts {
  return readCharts(readStored(KEY));
}

/** The recording of a file does not exist after a reload. */
export function keepCharts({ series, windowSeconds, isSplit }: KeptCharts): void {
  writeStored(KEY, {
    series: series.filter(({ connectionId }) => !isRecording(connectionId)),
    windowSeconds,
    isSplit,
  });
}

/** @param value perhaps from another version of the page: invalid entries are omitted */
export function readCharts(value: unknown): KeptCharts {
  const { series, windowSeconds, isSplit } = membersOf(value) ?? {};
  return {
    series: Array.isArray(series) ? series.slice(0, SERIES_MAX).flatMap(readSeries) : [],
    windowSeconds: oneOf(windowSeconds, WINDOW_SECONDS) ?? WINDOW_SECONDS[1],
    isSplit: flag(isSplit) ?? false,
  };
}

function readSeries(value: unknown): readonly Series[] {
  const read = membersOf(value) ?? {};
  const [id, connectionId, topicFilter] = [text(read.id), text(read.connectionId), text(read.topicFilter)];
  const source = readSource(read.source);
  if (id === undefined || connectionId === undefined || topicFilter === undefined || source === undefined)
    return [];
  return [{ id, connectionId, topicFilter, source, isHidden: flag(read.isHidden) ?? false }];
}

function readSource(value: unknown): SampleSource | undefined {
  const { kind, path } = membersOf(value) ?? {};
  if (kind === 'latency' || kind === 'missing') return { kind };
  if (kind !== 'value' || !Array.isArray(path) || path.length > PATH_LENGTH_MAX) return undefined;
  const steps = path.filter((step) => typeof step === 'string' || Number.isInteger(step));
  return steps.length === path.length ? { kind, path: steps } : undefined;
}
