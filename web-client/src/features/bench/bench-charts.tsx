import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type uPlot from 'uplot';
import { formatCount } from '../../ui/format.ts';
import { Plot, type PlotColors, type PlotOptions, plotAxis, usePlotColors } from '../../ui/plot.tsx';
import classes from './bench-view.module.css';
import type { LatencyBucket } from './latency-recorder.ts';
import type { BenchSecond, BenchSnapshot } from './result.ts';

/** A run over time, and the distribution of its latencies. */
export function BenchCharts({ snapshot }: { readonly snapshot: BenchSnapshot }) {
  const { t } = useTranslation();
  const colors = usePlotColors();
  const { seconds, buckets } = snapshot;
  const throughput = useMemo(
    () => overTime(colors, [t('bench.published'), t('bench.received')]),
    [colors, t],
  );
  const latency = useMemo(
    () =>
      overTime(
        colors,
        [t('bench.percentiles.p50Ms'), t('bench.percentiles.p99Ms'), t('bench.percentiles.maxMs')],
        'ms',
      ),
    [colors, t],
  );
  const throughputData = useMemo(
    () => columns(seconds, [({ published }) => published, ({ received }) => received]),
    [seconds],
  );
  const latencyData = useMemo(
    () => columns(seconds, [({ p50Ms }) => p50Ms, ({ p99Ms }) => p99Ms, ({ maxMs }) => maxMs]),
    [seconds],
  );
  return (
    <div className={classes.charts}>
      <figure className={classes.chart}>
        <figcaption>{t('bench.throughput')}</figcaption>
        <Legend colors={colors} names={[t('bench.published'), t('bench.received')]} />
        <div className={classes.plot}>
          <Plot label={t('bench.throughputChart')} options={throughput} data={throughputData} />
        </div>
      </figure>
      <figure className={classes.chart}>
        <figcaption>{t('bench.latencyOverTime')}</figcaption>
        <Legend
          colors={colors}
          names={[t('bench.percentiles.p50Ms'), t('bench.percentiles.p99Ms'), t('bench.percentiles.maxMs')]}
        />
        <div className={classes.plot}>
          <Plot label={t('bench.latencyChart')} options={latency} data={latencyData} />
        </div>
      </figure>
      {buckets.length > 0 && (
        <figure className={classes.chart}>
          <figcaption>{t('bench.histogram')}</figcaption>
          <Histogram buckets={buckets} />
        </figure>
      )}
    </div>
  );
}

function overTime(colors: PlotColors, names: readonly string[], unit?: string): PlotOptions {
  return {
    legend: { show: false },
    padding: [8, 8, 0, 0],
    cursor: { drag: { x: false, y: false } },
    scales: { x: { time: false }, y: { range: (_plot, _min, max) => [0, Math.max(1, (max ?? 0) * 1.1)] } },
    axes: [
      plotAxis(colors, { size: 28, incrs: [1, 2, 5, 10, 30, 60, 300, 600] }),
      plotAxis(colors, { size: 52, ...(unit === undefined ? {} : { label: unit, size: 66 }) }),
    ],
    series: [
      {},
      ...names.map((label, index) => ({
        label,
        stroke: colors.lines[index] ?? colors.text,
        width: 1.5,
        points: { size: 4 },
      })),
    ],
  };
}

function columns(
  seconds: readonly BenchSecond[],
  values: readonly ((second: BenchSecond) => number | undefined)[],
): uPlot.AlignedData {
  return [seconds.map((_, index) => index + 1), ...values.map((value) => seconds.map(value))];
}

function Legend({ colors, names }: { readonly colors: PlotColors; readonly names: readonly string[] }) {
  return (
    <ul className={classes.legend}>
      {names.map((name, index) => (
        <li key={name}>
          <span style={{ background: colors.lines[index] }} />
          {name}
        </li>
      ))}
    </ul>
  );
}

const milliseconds = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 2 });

/** Bars with their range and count as text: screen readers read them as a table. */
function Histogram({ buckets }: { readonly buckets: readonly LatencyBucket[] }) {
  const { t } = useTranslation();
  const highest = Math.max(...buckets.map(({ count }) => count));
  return (
    <table className={classes.histogram}>
      <tbody>
        {buckets.map(({ fromMs, toMs, count }) => (
          <tr key={fromMs}>
            <th scope="row">
              {t('bench.bucket', {
                from: milliseconds.format(fromMs),
                to: `${milliseconds.format(toMs)} ms`,
              })}
            </th>
            <td aria-hidden>{count > 0 && <span style={{ width: `${(count / highest) * 100}%` }} />}</td>
            <td>{formatCount(count)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
