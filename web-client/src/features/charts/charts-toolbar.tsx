import { Button, SegmentedControl } from '@mantine/core';
import { IconLayoutRows, IconPlus } from '@tabler/icons-react';
import { LogTools } from '../../ui/log-tools.tsx';
import { clearSamples, useCharts } from './charts-store.ts';
import classes from './charts-view.module.css';
import { WINDOW_SECONDS } from './limits.ts';
import { chartsWords } from './strings.ts';

const ICON = { size: 15, stroke: 1.5 } as const;

/** The tools above the charts. */
export function ChartsToolbar({ add }: { readonly add: () => void }) {
  const { series, isSplit, heldAtMs } = useCharts();
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
      <LogTools
        isHeld={heldAtMs !== undefined}
        toggle={toggleHeld}
        clearLabel="Clear the samples"
        clear={clearSamples}
      />
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
      data={WINDOW_SECONDS.map((value) => ({ value, label: chartsWords.windows[value] }))}
      value={windowSeconds}
      onChange={(chosen) => useCharts.setState({ windowSeconds: chosen })}
    />
  );
}
