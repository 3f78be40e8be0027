import { useCallback, useEffect, useMemo, useRef } from 'react';
import type uPlot from 'uplot';
import { steadyFrames } from '../../engine/log/frames.ts';
import { Plot, usePlotColors } from '../../ui/plot.tsx';
import { visibleText } from '../../ui/visible-text.ts';
import { align } from './align.ts';
import { chartOptions, type OnCursor } from './chart-options.ts';
import { gapsOf, recordingOf } from './charts-store.ts';
import { downsample, interrupted } from './downsample.ts';
import { DRAW_INTERVAL_MS_MAX } from './limits.ts';
import type { Series, TimeRange } from './series.ts';

interface ChartProps {
  readonly label: string;
  readonly series: readonly Series[];
  /** The time range shown now; it moves while the window follows the clock. */
  readonly range: () => TimeRange;
  readonly onCursor: OnCursor;
}

const NO_DATA: uPlot.AlignedData = [[]];

/** The lines of all series. They are drawn outside of React, as often as a line can have moved by a pixel. */
export function Chart({ label, series, range, onCursor }: ChartProps) {
  const colors = usePlotColors();
  const plot = useRef<uPlot>(undefined);
  const latestRange = useRef(range);
  latestRange.current = range;
  const options = useMemo(() => {
    const labels = {
      value: namesOf(series) ?? 'Value',
      milliseconds: 'ms',
      messages: 'Messages',
    };
    return chartOptions(series, colors, labels, onCursor);
  }, [series, colors, onCursor]);
  const take = useCallback(
    (made: uPlot | undefined) => {
      plot.current = made;
      if (made !== undefined) draw(made, series, latestRange.current());
    },
    [series],
  );
  useEffect(() => {
    const schedule = steadyFrames();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    let drawn = '';
    const next = (): void => {
      if (isOver) return;
      const shown = latestRange.current();
      const content = contentOf(series, shown);
      if (plot.current !== undefined && !document.hidden && content !== drawn) {
        draw(plot.current, series, shown);
        drawn = content;
      }
      timer = setTimeout(() => schedule(next), pixelMs(shown, plot.current));
    };
    next();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [series]);
  return <Plot label={label} options={options} data={NO_DATA} onPlot={take} />;
}

/** A message does not tell the unit of a number: its name says what the axis shows. */
function namesOf(series: readonly Series[]): string | undefined {
  const names = series.flatMap(({ isHidden, source, topicFilter }) =>
    isHidden || source.kind !== 'value'
      ? []
      : [String(source.path.at(-1) ?? topicFilter.slice(topicFilter.lastIndexOf('/') + 1))],
  );
  const distinct = [...new Set(names)];
  return distinct.length === 0 || distinct.length > AXIS_NAMES_MAX
    ? undefined
    : visibleText(distinct.join(', ')).slice(0, AXIS_LENGTH_MAX);
}

/** More names than these do not fit beside an axis. */
const AXIS_NAMES_MAX = 3;
const AXIS_LENGTH_MAX = 40;

/** Different when the lines are: a paused chart is not drawn again. */
function contentOf(series: readonly Series[], { fromMs, toMs }: TimeRange): string {
  const totals = series.map((one) => recordingOf(one)?.samples.total ?? 0);
  return [fromMs, toMs, ...totals].join();
}

/** In this time the lines move by a pixel. */
function pixelMs({ fromMs, toMs }: TimeRange, plot: uPlot | undefined): number {
  return Math.min((toMs - fromMs) / (plot?.width ?? 1), DRAW_INTERVAL_MS_MAX);
}

function draw(plot: uPlot, series: readonly Series[], { fromMs, toMs }: TimeRange): void {
  const columns = Math.max(1, Math.round(plot.bbox.width));
  const lines = series.map((one) => {
    const samples = one.isHidden ? undefined : recordingOf(one)?.samples;
    if (samples === undefined) return { times: [], values: [] };
    return interrupted(downsample(samples, fromMs, toMs, columns), gapsOf(one));
  });
  plot.batch(() => {
    plot.setData(align(lines) as uPlot.AlignedData, false);
    plot.setScale('x', { min: fromMs / 1_000, max: toMs / 1_000 });
  });
}
