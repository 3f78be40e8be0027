import { useMemo } from 'react';
import type uPlot from 'uplot';
import { Plot, type PlotOptions, plotAxis, usePlotColors } from '../../ui/plot.tsx';
import classes from './admin-view.module.css';
import { timeSpan } from './rates.ts';

const seconds = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' });
const minutes = new Intl.DateTimeFormat(undefined, { timeStyle: 'short', hourCycle: 'h23' });

/** Beyond it the axis has no seconds. */
const SECONDS_SPAN_MAX = 1_800;

interface RateGraphProps {
  readonly label: string;
  /** Of the numbers, beside their axis. */
  readonly unit: string;
  readonly lines: readonly { readonly label: string; readonly values: readonly (number | null)[] }[];
  /** In milliseconds since 1970. */
  readonly times: readonly number[];
  /** @default hours and minutes, and seconds in a short time */
  readonly timeFormat?: Intl.DateTimeFormat;
}

/** Numbers over time. The figures above have the latest ones. */
export function RateGraph({ label, unit, lines, times, timeFormat }: RateGraphProps) {
  const colors = usePlotColors();
  const count = lines.length;
  const options = useMemo(
    (): PlotOptions => ({
      legend: { show: false },
      padding: [8, 26, 6, 0],
      cursor: { drag: { x: false, y: false } },
      scales: {
        x: { range: ({ data: [all] }) => timeSpan(all) },
        y: { range: (_plot, _min, max) => [0, Math.max(1, (max ?? 0) * 1.1)] },
      },
      axes: [
        plotAxis(colors, { size: 26, space: 80, values: (_plot, splits) => timesOf(splits, timeFormat) }),
        plotAxis(colors, { size: 50, label: unit }),
      ],
      series: [
        {},
        ...Array.from({ length: count }, (_, index) => ({
          stroke: colors.lines[index] ?? colors.text,
          width: 1.5,
          points: { show: false },
        })),
      ],
    }),
    [colors, unit, count, timeFormat],
  );
  const data = useMemo(
    (): uPlot.AlignedData => [
      times.map((atMs) => atMs / 1_000),
      ...lines.map(({ values }) => values as (number | null)[]),
    ],
    [times, lines],
  );
  return (
    <div className={classes.graph}>
      <div className={classes.legend}>
        {lines.map((line, index) => (
          <span key={line.label}>
            <i style={{ background: colors.lines[index] }} />
            {line.label}
          </span>
        ))}
      </div>
      <div className={classes.plot}>
        <Plot label={label} options={options} data={data} />
      </div>
    </div>
  );
}

function timesOf(splits: readonly number[], timeFormat?: Intl.DateTimeFormat): string[] {
  const span = (splits.at(-1) ?? 0) - (splits[0] ?? 0);
  const format = timeFormat ?? (span > SECONDS_SPAN_MAX ? minutes : seconds);
  return splits.map((at) => format.format(at * 1_000));
}
