import { create } from 'zustand';
import { newId } from '../../engine/new-profile.ts';
import { connections } from '../../state/connections.ts';
import { useStore } from '../../state/store.ts';
import { keepCharts, keptCharts } from './kept-charts.ts';
import { SERIES_MAX, WINDOW_SECONDS } from './limits.ts';
import { Recorder } from './recorder.ts';
import { type SampleSource, type Series, seriesKey } from './series.ts';

export interface ChartsState {
  readonly series: readonly Series[];
  readonly windowSeconds: number;
  /** A chart for each series, or one for all. */
  readonly isSplit: boolean;
  /** The end of a paused window, in milliseconds since 1970; undefined while it follows the clock. */
  readonly heldAtMs: number | undefined;
}

export const useCharts = create<ChartsState>(() => ({
  series: [],
  windowSeconds: WINDOW_SECONDS[1],
  isSplit: false,
  heldAtMs: undefined,
}));

interface Following {
  readonly recorder: Recorder;
  readonly stop: () => void;
}

/** The recorders of samples, by the connection's id. Only connections with series have one. */
const followed = new Map<string, Following>();

/** The recording of a series; undefined if its connection was deleted. */
export function recordingOf({ id, connectionId }: Series): ReturnType<Recorder['get']> {
  return followed.get(connectionId)?.recorder.get(id);
}

/** The times at which its line is interrupted. */
export function gapsOf({ connectionId }: Series): readonly number[] {
  return followed.get(connectionId)?.recorder.gaps ?? [];
}

/** Begins a series, with the messages that the log still holds. */
export function addSeries(
  connectionId: string,
  topicFilter: string,
  source: SampleSource,
): 'added' | 'exists' | 'full' {
  const { series } = useCharts.getState();
  const added: Series = { id: newId(), connectionId, topicFilter, source, isHidden: false };
  if (series.some((known) => seriesKey(known) === seriesKey(added))) return 'exists';
  if (series.length >= SERIES_MAX) return 'full';
  recorderOf(connectionId).add(added, connections.get(connectionId).messages);
  useCharts.setState({ series: [...series, added] });
  return 'added';
}

export function removeSeries(id: string): void {
  const { series } = useCharts.getState();
  const removed = series.find((known) => known.id === id);
  if (removed === undefined) return;
  const left = series.filter((known) => known !== removed);
  followed.get(removed.connectionId)?.recorder.remove(id);
  if (!left.some(({ connectionId }) => connectionId === removed.connectionId)) unfollow(removed.connectionId);
  useCharts.setState({ series: left });
}

export function toggleSeries(id: string): void {
  const { series } = useCharts.getState();
  useCharts.setState({
    series: series.map((known) => (known.id === id ? { ...known, isHidden: !known.isHidden } : known)),
  });
}

/** Deletes all samples; the series go on. */
export function clearSamples(): void {
  for (const { recorder } of followed.values()) recorder.clear();
}

function recorderOf(connectionId: string): Recorder {
  const known = followed.get(connectionId);
  if (known !== undefined) return known.recorder;
  const recorder = new Recorder();
  const { messages: log } = connections.get(connectionId);
  recorder.note(log.marks);
  const stop = log.onAppend((messages, marks) => {
    recorder.note(marks);
    recorder.take(messages);
  });
  followed.set(connectionId, { recorder, stop });
  return recorder;
}

function unfollow(connectionId: string): void {
  followed.get(connectionId)?.stop();
  followed.delete(connectionId);
}

/** Deleting a connection also deletes its series. */
useStore.subscribe(({ profiles }, before) => {
  if (profiles === before.profiles) return;
  for (const { id, connectionId } of useCharts.getState().series) {
    if (!profiles.some((profile) => profile.id === connectionId)) removeSeries(id);
  }
});

/** Restores the series of the last visit, and stores them from now on. Called when the profiles are known. */
function resumeCharts(): void {
  const { series, windowSeconds, isSplit } = keptCharts();
  const { profiles } = useStore.getState();
  const known = series.filter(({ connectionId }) => profiles.some(({ id }) => id === connectionId));
  for (const one of known) recorderOf(one.connectionId).add(one, connections.get(one.connectionId).messages);
  useCharts.setState({ series: known, windowSeconds, isSplit });
  useCharts.subscribe(keepCharts);
}

resumeCharts();
