import { Button, Group, SegmentedControl } from '@mantine/core';
import {
  IconDownload,
  IconLayoutRows,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlus,
  IconTrash,
} from '@tabler/icons-react';
import { useEffect } from 'react';
import { IconButton } from '../../ui/icon-button.tsx';
import { provideShortcut } from '../../ui/shortcut-actions.ts';
import { clearSamples, useCharts } from './charts-store.ts';
import classes from './charts-view.module.css';
import { WINDOW_SECONDS } from './limits.ts';
import { chartsWords } from './strings.ts';

const ICON = { size: 15, stroke: 1.5 } as const;

interface ChartsToolbarProps {
  readonly add: () => void;
  readonly exportCsv: () => void;
}

/** The tools above the charts. */
export function ChartsToolbar({ add, exportCsv }: ChartsToolbarProps) {
  const { series, isSplit } = useCharts();
  return (
    <div className={classes.toolbar}>
      <WindowControl />
      <Button variant="default" leftSection={<IconPlus {...ICON} />} onClick={add}>
        Add a series
      </Button>
      <Button
        variant="default"
        disabled={series.length < 2}
        leftSection={<IconLayoutRows {...ICON} />}
        onClick={() => useCharts.setState({ isSplit: !isSplit })}
      >
        {isSplit ? 'One chart for all' : 'A chart for each'}
      </Button>
      <Group gap={4} ml="auto" wrap="nowrap">
        <Button variant="default" leftSection={<IconDownload {...ICON} />} onClick={exportCsv}>
          Export CSV
        </Button>
        <HoldButton />
        <IconButton label="Clear the samples" onClick={clearSamples}>
          <IconTrash size={16} stroke={1.5} />
        </IconButton>
      </Group>
    </div>
  );
}

function toggleHeld(): void {
  useCharts.setState(({ heldAtMs }) => ({ heldAtMs: heldAtMs === undefined ? Date.now() : undefined }));
}

function WindowControl() {
  const { windowSeconds } = useCharts();
  return (
    <SegmentedControl
      aria-label="Window"
      data={WINDOW_SECONDS.map((seconds) => ({
        value: String(seconds),
        label: chartsWords.windows[seconds],
      }))}
      value={String(windowSeconds)}
      onChange={(value) => useCharts.setState({ windowSeconds: Number(value) })}
    />
  );
}

function HoldButton() {
  const { heldAtMs } = useCharts();
  const isHeld = heldAtMs !== undefined;
  useEffect(() => provideShortcut('pause', toggleHeld), []);
  return (
    <Button
      variant={isHeld ? 'filled' : 'default'}
      leftSection={isHeld ? <IconPlayerPlay {...ICON} /> : <IconPlayerPause {...ICON} />}
      onClick={toggleHeld}
    >
      {isHeld ? 'Resume' : 'Pause'}
    </Button>
  );
}
