import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type uPlot from 'uplot';
import { Plot, type PlotOptions, plotAxis, usePlotColors } from '../../ui/plot.tsx';
import classes from './admin-view.module.css';
import { GRAPH_MINUTES, type RatePoint, timeSpan } from './rates.ts';

const LINES = ['received', 'sent', 'dropped'] as const;

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

/** Messages a second since the view was opened. The figures above have the latest numbers. */
export function RateGraph({ points }: { readonly points: readonly RatePoint[] }) {
  const { t } = useTranslation();
  const colors = usePlotColors();
  const options = useMemo(
    (): PlotOptions => ({
      legend: { show: false },
      padding: [8, 8, 6, 0],
      cursor: { drag: { x: false, y: false } },
      scales: {
        x: { range: ({ data: [times] }) => timeSpan(times) },
        y: { range: (_plot, _min, max) => [0, Math.max(1, max * 1.1)] },
      },
      axes: [
        plotAxis(colors, {
          size: 26,
          space: 80,
          values: (_plot, splits) => splits.map((at) => clock.format(at * 1_000)),
        }),
        plotAxis(colors, { size: 50 }),
      ],
      series: [
        {},
        ...LINES.map((_line, index) => ({
          stroke: colors.lines[index] ?? colors.text,
          width: 1.5,
          points: { show: false },
        })),
      ],
    }),
    [colors],
  );
  const data = useMemo(
    (): uPlot.AlignedData => [
      points.map(({ atMs }) => atMs / 1_000),
      ...LINES.map((line) => points.map((point) => point[line])),
    ],
    [points],
  );
  return (
    <div className={classes.graph}>
      <div className={classes.legend}>
        {LINES.map((line, index) => (
          <span key={line}>
            <i style={{ background: colors.lines[index] }} />
            {t(`admin.lines.${line}`)}
          </span>
        ))}
      </div>
      <div className={classes.plot}>
        <Plot label={t('admin.graph', { minutes: GRAPH_MINUTES })} options={options} data={data} />
      </div>
    </div>
  );
}
