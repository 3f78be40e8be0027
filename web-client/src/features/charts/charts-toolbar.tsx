import { Button, Group, SegmentedControl } from '@mantine/core';
import {
  IconArrowsHorizontal,
  IconDownload,
  IconLayoutRows,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlus,
  IconTrash,
} from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { IconButton } from '../../ui/icon-button.tsx';
import { arrangeCharts, clearSamples, useCharts } from './charts-store.ts';
import classes from './charts-view.module.css';
import { WINDOW_SECONDS } from './limits.ts';

const ICON = { size: 15, stroke: 1.5 } as const;

interface ChartsToolbarProps {
  readonly isOneChart: boolean;
  /** A range of the window is selected. */
  readonly isZoomed: boolean;
  readonly add: () => void;
  readonly selectRange: () => void;
  readonly clearRange: () => void;
  readonly toggleHeld: () => void;
  readonly exportCsv: () => void;
  readonly exportPng: () => void;
}

/** The tools above the charts. */
export function ChartsToolbar({ isOneChart, isZoomed, add, ...does }: ChartsToolbarProps) {
  const { t } = useTranslation();
  const { series } = useCharts();
  return (
    <div className={classes.toolbar}>
      <WindowControl clearRange={does.clearRange} />
      <Button variant="default" leftSection={<IconPlus {...ICON} />} onClick={add}>
        {t('charts.add')}
      </Button>
      <Button
        variant={isZoomed ? 'light' : 'default'}
        aria-pressed={isZoomed}
        leftSection={<IconArrowsHorizontal {...ICON} />}
        onClick={isZoomed ? does.clearRange : does.selectRange}
      >
        {t('charts.range.select')}
      </Button>
      <Button
        variant="default"
        disabled={series.length < 2}
        leftSection={<IconLayoutRows {...ICON} />}
        onClick={() => arrangeCharts(isOneChart)}
      >
        {t(isOneChart ? 'charts.split' : 'charts.join')}
      </Button>
      <Group gap={4} ml="auto" wrap="nowrap">
        <Button variant="default" leftSection={<IconDownload {...ICON} />} onClick={does.exportCsv}>
          {t('charts.exportCsv')}
        </Button>
        <Button variant="default" leftSection={<IconDownload {...ICON} />} onClick={does.exportPng}>
          {t('charts.exportPng')}
        </Button>
        <HoldButton toggleHeld={does.toggleHeld} />
        <IconButton label={t('charts.clear')} onClick={clearSamples}>
          <IconTrash size={16} stroke={1.5} />
        </IconButton>
      </Group>
    </div>
  );
}

function WindowControl({ clearRange }: Pick<ChartsToolbarProps, 'clearRange'>) {
  const { t } = useTranslation();
  const { windowSeconds } = useCharts();
  return (
    <SegmentedControl
      aria-label={t('charts.window')}
      data={WINDOW_SECONDS.map((seconds) => ({
        value: String(seconds),
        label: t(`charts.windows.w${seconds}`),
      }))}
      value={String(windowSeconds)}
      onChange={(value) => {
        clearRange();
        useCharts.setState({ windowSeconds: Number(value) });
      }}
    />
  );
}

function HoldButton({ toggleHeld }: Pick<ChartsToolbarProps, 'toggleHeld'>) {
  const { t } = useTranslation();
  const { heldAtMs } = useCharts();
  const isHeld = heldAtMs !== undefined;
  return (
    <Button
      variant={isHeld ? 'filled' : 'default'}
      leftSection={isHeld ? <IconPlayerPlay {...ICON} /> : <IconPlayerPause {...ICON} />}
      onClick={toggleHeld}
    >
      {t(isHeld ? 'charts.resume' : 'charts.pause')}
    </Button>
  );
}
