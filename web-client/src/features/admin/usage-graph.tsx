import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type uPlot from 'uplot';
import { Plot, type PlotOptions, plotAxis, usePlotColors } from '../../ui/plot.tsx';
import classes from './admin-view.module.css';
import type { UsagePoint, UsageStep } from './usage.ts';

const LINES = ['in', 'out'] as const;

const FORMATS: Readonly<Record<UsageStep, Intl.DateTimeFormat>> = {
  hour: new Intl.DateTimeFormat(undefined, { weekday: 'short', hour: '2-digit', minute: '2-digit' }),
  day: new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' }),
};

interface UsageGraphProps {
  readonly points: readonly UsagePoint[];
  readonly step: UsageStep;
}

/** Messages in and out, an hour or a day at a time. The table below has the sums in numbers. */
export function UsageGraph({ points, step }: UsageGraphProps) {
  const { t } = useTranslation();
  const colors = usePlotColors();
  const options = useMemo(
    (): PlotOptions => ({
      legend: { show: false },
      padding: [8, 8, 6, 0],
      cursor: { drag: { x: false, y: false } },
      scales: { y: { range: (_plot, _min, max) => [0, Math.max(1, max * 1.1)] } },
      axes: [
        plotAxis(colors, {
          size: 26,
          space: 90,
          values: (_plot, splits) => splits.map((at) => FORMATS[step].format(at * 1_000)),
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
    [colors, step],
  );
  const data = useMemo(
    (): uPlot.AlignedData => [
      points.map(({ atMs }) => atMs / 1_000),
      points.map(({ messagesIn }) => messagesIn),
      points.map(({ messagesOut }) => messagesOut),
    ],
    [points],
  );
  return (
    <div className={classes.graph}>
      <div className={classes.legend}>
        {LINES.map((line, index) => (
          <span key={line}>
            <i style={{ background: colors.lines[index] }} />
            {t(`admin.tenants.usage.lines.${line}`)}
          </span>
        ))}
      </div>
      <div className={classes.plot}>
        <Plot label={t('admin.tenants.usage.graph')} options={options} data={data} />
      </div>
    </div>
  );
}
