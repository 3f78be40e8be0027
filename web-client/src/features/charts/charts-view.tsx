import { Button, Center, EmptyState, Group, SegmentedControl } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import {
  IconArrowsHorizontal,
  IconChartLine,
  IconDownload,
  IconLayoutRows,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlus,
  IconTrash,
} from '@tabler/icons-react';
import { type ComponentProps, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type uPlot from 'uplot';
import { useActiveProfile } from '../../state/hooks.ts';
import { useStore } from '../../state/store.ts';
import { formatDateTime } from '../../ui/format.ts';
import { IconButton } from '../../ui/icon-button.tsx';
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
import { arrangeCharts, clearSamples, recordingOf, useCharts } from './charts-store.ts';
import classes from './charts-view.module.css';
import { csvOf } from './export-csv.ts';
import { pngOf } from './export-png.ts';
import { WINDOW_SECONDS } from './limits.ts';
import { panelsOf } from './panels.ts';
import { RangeBar } from './range-bar.tsx';
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

/** The chart with its tools and its table. */
function Board({ add }: { readonly add: () => void }) {
  const { t } = useTranslation();
  const { series, windowSeconds, heldAtMs } = useCharts();
  const profiles = useStore((state) => state.profiles);
  const colors = usePlotColors();
  const plots = useRef(new Map<number, uPlot>());
  const panels = useMemo(() => panelsOf(series), [series]);
  const [zoomed, setZoomed] = useState<TimeRange>();
  const [cursorAtMs, setCursorAtMs] = useState<number>();
  const range = (): TimeRange => shownRange(windowSeconds, heldAtMs, zoomed, Date.now());
  useTick(TABLE_INTERVAL_MS);
  const toggleHeld = useCallback(() => {
    setZoomed(undefined);
    useCharts.setState(({ heldAtMs: held }) => ({ heldAtMs: held === undefined ? Date.now() : undefined }));
  }, []);
  useEffect(() => provideShortcut('pause', toggleHeld), [toggleHeld]);
  const events = useMemo(
    (): ChartEvents => ({
      onCursor: setCursorAtMs,
      onZoom: (fromMs, toMs) => {
        useCharts.setState(({ heldAtMs: held }) => ({ heldAtMs: held ?? Date.now() }));
        setZoomed({ fromMs, toMs });
      },
      onZoomOut: () => setZoomed(undefined),
    }),
    [],
  );
  /** A zoom without the mouse: half of the window, which the slider changes. */
  const selectMiddle = (): void => {
    const { fromMs, toMs } = range();
    const quarter = (toMs - fromMs) / 4;
    events.onZoom(fromMs + quarter, toMs - quarter);
  };
  const connectionNames = useMemo(() => {
    const isOfSeveral = new Set(series.map(({ connectionId }) => connectionId)).size > 1;
    return isOfSeveral ? new Map(profiles.map(({ id, name }) => [id, name])) : undefined;
  }, [series, profiles]);
  const shown = series.filter(({ isHidden }) => !isHidden);
  const exportCsv = (): void => {
    const recordings = shown.map(recordingOf).filter((recording) => recording !== undefined);
    const { fromMs, toMs } = range();
    const blob = new Blob([...csvOf(recordings, fromMs, toMs)], { type: 'text/csv' });
    saveBlob(fileName('charts', 'csv'), blob);
  };
  const exportPng = async (): Promise<void> => {
    const drawn = panels.map(({ chart }) => plots.current.get(chart)).filter((plot) => plot !== undefined);
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
  const windowName = t(`charts.windows.w${windowSeconds as (typeof WINDOW_SECONDS)[number]}`);
  return (
    <>
      <div className={classes.toolbar}>
        <SegmentedControl
          aria-label={t('charts.window')}
          data={WINDOW_SECONDS.map((seconds) => ({
            value: String(seconds),
            label: t(`charts.windows.w${seconds}`),
          }))}
          value={String(windowSeconds)}
          onChange={(value) => {
            setZoomed(undefined);
            useCharts.setState({ windowSeconds: Number(value) });
          }}
        />
        <Button variant="default" leftSection={<IconPlus {...ICON} />} onClick={add}>
          {t('charts.add')}
        </Button>
        <Button
          variant={zoomed === undefined ? 'default' : 'light'}
          aria-pressed={zoomed !== undefined}
          leftSection={<IconArrowsHorizontal {...ICON} />}
          onClick={() => (zoomed === undefined ? selectMiddle() : setZoomed(undefined))}
        >
          {t('charts.range.select')}
        </Button>
        <Button
          variant="default"
          disabled={series.length < 2}
          leftSection={<IconLayoutRows {...ICON} />}
          onClick={() => arrangeCharts(panels.length === 1)}
        >
          {t(panels.length === 1 ? 'charts.split' : 'charts.join')}
        </Button>
        <Group gap={4} ml="auto" wrap="nowrap">
          <Button variant="default" leftSection={<IconDownload {...ICON} />} onClick={exportCsv}>
            {t('charts.exportCsv')}
          </Button>
          <Button variant="default" leftSection={<IconDownload {...ICON} />} onClick={() => void exportPng()}>
            {t('charts.exportPng')}
          </Button>
          <Button
            variant={heldAtMs === undefined ? 'default' : 'filled'}
            leftSection={
              heldAtMs === undefined ? <IconPlayerPause {...ICON} /> : <IconPlayerPlay {...ICON} />
            }
            onClick={toggleHeld}
          >
            {t(heldAtMs === undefined ? 'charts.pause' : 'charts.resume')}
          </Button>
          <IconButton label={t('charts.clear')} onClick={clearSamples}>
            <IconTrash size={16} stroke={1.5} />
          </IconButton>
        </Group>
      </div>
      {zoomed !== undefined && (
        <RangeBar
          selected={zoomed}
          whole={shownRange(windowSeconds, heldAtMs, undefined, Date.now())}
          onSelect={setZoomed}
          onClear={() => setZoomed(undefined)}
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
