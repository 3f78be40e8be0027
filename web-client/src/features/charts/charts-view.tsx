import { Button, Center, EmptyState } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconChartLine, IconPlus } from '@tabler/icons-react';
import { type ComponentProps, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type uPlot from 'uplot';
import { useActiveProfile } from '../../state/hooks.ts';
import { useStore } from '../../state/store.ts';
import { formatDateTime } from '../../ui/format.ts';
import { usePlotColors } from '../../ui/plot.tsx';
import { fileName, saveBlob } from '../../ui/save-file.ts';
import { provideShortcut } from '../../ui/shortcut-actions.ts';
import { visibleText } from '../../ui/visible-text.ts';
import { EmptyConnection } from '../connections/empty-connection.tsx';
import { pathText } from '../decode/json-path.ts';
import { AddSeriesDialog } from './add-series-dialog.tsx';
import { Chart } from './chart.tsx';
import type { ChartEvents } from './chart-options.ts';
import { shownRange, type TimeRange } from './chart-window.ts';
import { recordingOf, useCharts } from './charts-store.ts';
import { ChartsToolbar } from './charts-toolbar.tsx';
import classes from './charts-view.module.css';
import { csvOf } from './export-csv.ts';
import { pngOf } from './export-png.ts';
import type { WINDOW_SECONDS } from './limits.ts';
import { type Panel, panelsOf } from './panels.ts';
import { RangeBar } from './range-bar.tsx';
import type { Series } from './series.ts';
import { SeriesTable } from './series-table.tsx';

const ICON = { size: 15, stroke: 1.5 } as const;

/** How often the numbers beside the chart change: faster changes cannot be read. */
const TABLE_INTERVAL_MS = 250;

/** Numbers over time: of payloads, latencies, and missing messages. */
export function ChartsView() {
  const { t } = useTranslation();
  const profile = useActiveProfile();
  const { series } = useCharts();
  const [isAdding, adding] = useDisclosure();
  if (profile === undefined) return <EmptyConnection />;
  return (
    <section className={classes.view} aria-label={t('charts.title')}>
      {series.length === 0 ? (
        <Center p="md" h="100%">
          <EmptyState
            icon={<IconChartLine stroke={1.5} />}
            title={t('charts.none')}
            description={t('charts.noneAdvice')}
          >
            <Button leftSection={<IconPlus {...ICON} />} onClick={adding.open}>
              {t('charts.add')}
            </Button>
          </EmptyState>
        </Center>
      ) : (
        <Board add={adding.open} />
      )}
      {isAdding && <AddSeriesDialog profile={profile} close={adding.close} />}
    </section>
  );
}

/** The charts with their tools and their table. */
function Board({ add }: { readonly add: () => void }) {
  const { t } = useTranslation();
  const { series, windowSeconds, heldAtMs } = useCharts();
  const plots = useRef(new Map<number, uPlot>());
  const panels = useMemo(() => panelsOf(series), [series]);
  const [cursorAtMs, setCursorAtMs] = useState<number>();
  const { zoomed, setZoomed, clearRange, range, toggleHeld, events } = useRange(setCursorAtMs);
  const { exportCsv, exportPng } = useExports(range, panels, plots.current);
  const connectionNames = useConnectionNames(series);
  useTick(TABLE_INTERVAL_MS);
  useEffect(() => provideShortcut('pause', toggleHeld), [toggleHeld]);
  /** A zoom without the mouse: half of the window, which the slider changes. */
  const selectMiddle = (): void => {
    const { fromMs, toMs } = range();
    const quarter = (toMs - fromMs) / 4;
    events.onZoom(fromMs + quarter, toMs - quarter);
  };
  const windowName = t(`charts.windows.w${windowSeconds as (typeof WINDOW_SECONDS)[number]}`);
  return (
    <>
      <ChartsToolbar
        isOneChart={panels.length === 1}
        isZoomed={zoomed !== undefined}
        add={add}
        selectRange={selectMiddle}
        clearRange={clearRange}
        toggleHeld={toggleHeld}
        exportCsv={exportCsv}
        exportPng={() => void exportPng()}
      />
      {zoomed !== undefined && (
        <RangeBar
          selected={zoomed}
          whole={shownRange(windowSeconds, heldAtMs, undefined, Date.now())}
          onSelect={setZoomed}
          onClear={clearRange}
        />
      )}
      <div className={classes.charts} data-several={panels.length > 1 || undefined}>
        {panels.map(({ chart, series: own, shown: count }, index) => (
          <div className={classes.chart} key={chart}>
            <PanelChart
              chart={chart}
              plots={plots.current}
              label={t(panels.length > 1 ? 'charts.numbered' : 'charts.chart', {
                number: index + 1,
                count,
                window: windowName,
              })}
              series={own}
              range={range}
              events={events}
            />
          </div>
        ))}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must do so by key */}
      {/* biome-ignore lint/a11y/useSemanticElements: it is no part of a form */}
      <div className={classes.tableBox} role="group" aria-label={t('charts.table')} tabIndex={0}>
        <SeriesTable
          series={series}
          range={range()}
          cursorAtMs={cursorAtMs}
          connectionNames={connectionNames}
          isRange={zoomed !== undefined}
        />
      </div>
    </>
  );
}

/** The time that is shown: the window, which may be held, or a range of it that the user has selected. */
function useRange(onCursor: ChartEvents['onCursor']) {
  const { windowSeconds, heldAtMs } = useCharts();
  const [zoomed, setZoomed] = useState<TimeRange>();
  const clearRange = useCallback(() => setZoomed(undefined), []);
  const toggleHeld = useCallback(() => {
    setZoomed(undefined);
    useCharts.setState(({ heldAtMs: held }) => ({ heldAtMs: held === undefined ? Date.now() : undefined }));
  }, []);
  const events = useMemo(
    (): ChartEvents => ({
      onCursor,
      onZoom: (fromMs, toMs) => {
        useCharts.setState(({ heldAtMs: held }) => ({ heldAtMs: held ?? Date.now() }));
        setZoomed({ fromMs, toMs });
      },
      onZoomOut: clearRange,
    }),
    [onCursor, clearRange],
  );
  const range = (): TimeRange => shownRange(windowSeconds, heldAtMs, zoomed, Date.now());
  return { zoomed, setZoomed, clearRange, range, toggleHeld, events };
}

/** Saves the shown range as numbers, and as a picture of what is drawn. */
function useExports(range: () => TimeRange, panels: readonly Panel[], plots: ReadonlyMap<number, uPlot>) {
  const { t } = useTranslation();
  const { series } = useCharts();
  const colors = usePlotColors();
  const exportCsv = (): void => {
    const shown = series.filter(({ isHidden }) => !isHidden);
    const recordings = shown.map(recordingOf).filter((recording) => recording !== undefined);
    const { fromMs, toMs } = range();
    const blob = new Blob([...csvOf(recordings, fromMs, toMs)], { type: 'text/csv' });
    saveBlob(fileName('charts', 'csv'), blob);
  };
  const exportPng = async (): Promise<void> => {
    const drawn = panels.map(({ chart }) => plots.get(chart)).filter((plot) => plot !== undefined);
    if (drawn.length === 0) return;
    const { fromMs, toMs } = range();
    const legend = series.flatMap(({ topicFilter, source, isHidden }, index) => {
      const what = source.kind === 'value' ? pathText(source.path) : t(`charted.sources.${source.kind}`);
      const color = colors.lines[index % colors.lines.length] ?? colors.text;
      return isHidden ? [] : [{ name: `${visibleText(topicFilter)} ${what}`, color }];
    });
    const title = `${formatDateTime(fromMs)} – ${formatDateTime(toMs)}`;
    saveBlob(fileName('charts', 'png'), await pngOf(drawn, title, legend, colors));
  };
  return { exportCsv, exportPng };
}

/** By id. Undefined: all series are of one connection, which needs no name. */
function useConnectionNames(series: readonly Series[]): ReadonlyMap<string, string> | undefined {
  const profiles = useStore((state) => state.profiles);
  return useMemo(() => {
    const isOfSeveral = new Set(series.map(({ connectionId }) => connectionId)).size > 1;
    return isOfSeveral ? new Map(profiles.map(({ id, name }) => [id, name])) : undefined;
  }, [series, profiles]);
}

interface PanelChartProps extends Omit<ComponentProps<typeof Chart>, 'onPlot'> {
  readonly chart: number;
  /** Gives access to its plot for the picture. */
  readonly plots: Map<number, uPlot>;
}

function PanelChart({ chart, plots, ...props }: PanelChartProps) {
  const onPlot = useCallback(
    (made: uPlot | undefined) => {
      if (made === undefined) plots.delete(chart);
      else plots.set(chart, made);
    },
    [chart, plots],
  );
  return <Chart {...props} onPlot={onPlot} />;
}

/** Renders again at this interval in milliseconds. */
function useTick(intervalMs: number): void {
  const [, setCount] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setCount((count) => count + 1), intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs]);
}
