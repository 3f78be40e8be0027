import { Button, Center, EmptyState, Group, SegmentedControl } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import {
  IconChartLine,
  IconDownload,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlus,
  IconTrash,
} from '@tabler/icons-react';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type uPlot from 'uplot';
import { useActiveProfile } from '../../state/hooks.ts';
import { useStore } from '../../state/store.ts';
import { formatDateTime } from '../../ui/format.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { usePlotColors } from '../../ui/plot.tsx';
import { fileName, saveBlob } from '../../ui/save-file.ts';
import { provideShortcut } from '../../ui/shortcut-actions.ts';
import { EmptyConnection } from '../connections/empty-connection.tsx';
import { pathText } from '../decode/json-path.ts';
import { AddSeriesDialog } from './add-series-dialog.tsx';
import { Chart } from './chart.tsx';
import type { ChartEvents } from './chart-options.ts';
import { shownRange, type TimeRange } from './chart-window.ts';
import { clearSamples, recordingOf, useCharts } from './charts-store.ts';
import classes from './charts-view.module.css';
import { csvOf } from './export-csv.ts';
import { pngOf } from './export-png.ts';
import { WINDOW_SECONDS } from './limits.ts';
import { SeriesTable } from './series-table.tsx';
import { forgetChartThis } from './use-chart-this.tsx';

const ICON = { size: 15, stroke: 1.5 } as const;

/** How often the numbers beside the chart change: faster ones cannot be read. */
const TABLE_INTERVAL_MS = 250;

/** Numbers over time: of payloads, latencies, and missing messages. */
export function ChartsView() {
  const { t } = useTranslation();
  const profile = useActiveProfile();
  const { series } = useCharts();
  const [isAdding, adding] = useDisclosure();
  useEffect(forgetChartThis, []);
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
  const plot = useRef<uPlot>(undefined);
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
  const onPlot = useCallback((made: uPlot | undefined) => {
    plot.current = made;
  }, []);
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
    if (plot.current === undefined) return;
    const { fromMs, toMs } = range();
    const legend = series.flatMap(({ topicFilter, source, isHidden }, index) => {
      const what = source.kind === 'value' ? pathText(source.path) : t(`charts.sources.${source.kind}`);
      const color = colors.lines[index % colors.lines.length] ?? colors.text;
      return isHidden ? [] : [{ name: `${topicFilter} ${what}`, color }];
    });
    const title = `${formatDateTime(fromMs)} – ${formatDateTime(toMs)}`;
    saveBlob(fileName('charts', 'png'), await pngOf(plot.current, title, legend, colors));
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
      <div className={classes.chart}>
        <Chart
          label={t('charts.chart', { count: shown.length, window: windowName })}
          series={series}
          range={range}
          events={events}
          onPlot={onPlot}
        />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must do so by key */}
      {/* biome-ignore lint/a11y/useSemanticElements: it is no part of a form */}
      <div className={classes.tableBox} role="group" aria-label={t('charts.table')} tabIndex={0}>
        <SeriesTable
          series={series}
          range={range()}
          cursorAtMs={cursorAtMs}
          connectionNames={connectionNames}
        />
      </div>
    </>
  );
}

/** Renders anew every so many milliseconds. */
function useTick(intervalMs: number): void {
  const [, setCount] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setCount((count) => count + 1), intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs]);
}
