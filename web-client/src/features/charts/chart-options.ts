import type uPlot from 'uplot';
import { type PlotColors, type PlotOptions, plotAxis } from '../../ui/plot.tsx';
import { type Scale, type Series, scaleOf } from './series.ts';

const SCALES: readonly Scale[] = ['value', 'milliseconds', 'messages'];

/** Takes the time under the cursor in milliseconds since 1970, or undefined when it has left. */
export type OnCursor = (atMs: number | undefined) => void;

/** uPlot's options for these series. A hidden series keeps its place, and so its colour. */
export function chartOptions(
  series: readonly Series[],
  colors: PlotColors,
  axisLabels: Readonly<Record<Scale, string>>,
  onCursor: OnCursor,
): PlotOptions {
  const used = SCALES.filter((scale) => series.some((one) => !one.isHidden && scaleOf(one) === scale));
  return {
    legend: { show: false },
    padding: [10, 26, 0, 0],
    cursor: {
      drag: { x: false, y: false },
      points: { size: 7 },
      dataIdx: nearestPoint,
      // The cursors of all charts show the same time.
      sync: { key: 'charts' },
    },
    scales: Object.fromEntries(used.map((scale) => [scale, { auto: true, range: roomy }])),
    axes: [
      plotAxis(colors, {
        size: 30,
        values: (_plot, splits, _axis, _space, step) => splits.map((at) => timeText(at, step)),
      }),
      ...used.map((scale, index) =>
        plotAxis(colors, {
          scale,
          label: axisLabels[scale],
          side: index === 0 ? 3 : 1,
          size: 58,
          grid: { show: index === 0, stroke: colors.grid, width: 1 },
        }),
      ),
    ],
    series: [
      {},
      ...series.map((one, index) => ({
        scale: scaleOf(one),
        show: !one.isHidden,
        stroke: colors.lines[index % colors.lines.length] ?? colors.text,
        width: 1.5,
        // A line connects across undefined values, but not across an interruption (null).
        spanGaps: false,
        points: { show: showsPoints, size: 5 },
      })),
    ],
    hooks: {
      setCursor: [(plot) => onCursor(cursorTime(plot))],
    },
  };
}

function cursorTime(plot: uPlot): number | undefined {
  const { left } = plot.cursor;
  return left === undefined || left === null || left < 0 ? undefined : plot.posToVal(left, 'x') * 1_000;
}

/** Series have points at different times: each shows the one that is nearest to the cursor. */
function nearestPoint(plot: uPlot, seriesIndex: number, index: number): number {
  const column = plot.data[seriesIndex];
  if (seriesIndex === 0 || column === undefined) return index;
  for (let distance = 0; distance < column.length; distance += 1) {
    if (column[index - distance] != null) return index - distance;
    if (column[index + distance] != null) return index + distance;
  }
  return index;
}

/** Single samples are shown as points while there is room for them. */
function showsPoints(plot: uPlot, seriesIndex: number): boolean {
  let count = 0;
  for (const value of plot.data[seriesIndex] ?? []) if (value != null) count += 1;
  return count * POINT_ROOM_PX < plot.width;
}

const POINT_ROOM_PX = 12;

/** Some room above and below; a line that is level lies in the middle. */
function roomy(_plot: uPlot, min: number | null, max: number | null): uPlot.Range.MinMax {
  if (min === null || max === null) return [0, 1];
  const room = (max - min) * 0.08 || Math.max(1, Math.abs(max) * 0.1);
  return [min - room, max + room];
}

/** In local time; a step below a second shows milliseconds, one of a minute or more leaves out the seconds. */
function timeText(atSeconds: number, stepSeconds: number): string {
  const date = new Date(atSeconds * 1_000);
  const two = (value: number): string => String(value).padStart(2, '0');
  const minutes = `${two(date.getHours())}:${two(date.getMinutes())}`;
  if (stepSeconds >= 60) return minutes;
  const seconds = `${minutes}:${two(date.getSeconds())}`;
  return stepSeconds >= 1 ? seconds : `${seconds}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}
