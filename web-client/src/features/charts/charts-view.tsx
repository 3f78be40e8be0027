import { Button, Center, EmptyState, Stack, Text } from '@mantine/core';
import { useDisclosure, useForceUpdate, useInterval } from '@mantine/hooks';
import { IconChartLine, IconPlus } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { useActiveProfile, useConnection, useLogEnd } from '../../state/hooks.ts';
import { useStore } from '../../state/store.ts';
import { visibleText } from '../../ui/visible-text.ts';
import { EmptyConnection } from '../connections/empty-connection.tsx';
import { pathText } from '../decode/json-path.ts';
import { AddSeriesDialog } from './add-series-dialog.tsx';
import { Chart } from './chart.tsx';
import { addSeries, useCharts } from './charts-store.ts';
import { ChartsToolbar } from './charts-toolbar.tsx';
import classes from './charts-view.module.css';
import type { WINDOW_SECONDS } from './limits.ts';
import { panelsOf } from './panels.ts';
import type { Series, TimeRange } from './series.ts';
import { SeriesTable } from './series-table.tsx';
import { chartsWords } from './strings.ts';
import { suggestions } from './suggestions.ts';

const ICON = { size: 15, stroke: 1.5 } as const;

/** How often the numbers beside the chart change: faster changes cannot be read. */
const TABLE_INTERVAL_MS = 250;

/** Numbers over time: of payloads, latencies, and missing messages. */
export function ChartsView() {
  const profile = useActiveProfile();
  const { series } = useCharts();
  const [isAdding, adding] = useDisclosure();
  if (profile === undefined) return <EmptyConnection />;
  return (
    <section className={classes.view} aria-label="Charts">
      {series.length === 0 ? (
        <Center p="md" h="100%">
          <EmptyState
            icon={<IconChartLine stroke={1.5} />}
            title="Nothing is charted yet"
            description="Click a number in a payload, in Messages or Topics, or add a series here."
          >
            <Suggestions id={profile.id} />
            <Button variant="default" leftSection={<IconPlus {...ICON} />} onClick={adding.open}>
              Add a series
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

/** Numbers of the newest messages, each a click away. */
function Suggestions({ id }: { readonly id: string }) {
  const { messages } = useConnection(id);
  useLogEnd(messages);
  const found = suggestions(messages);
  if (found.length === 0) return null;
  return (
    <Stack gap={4} align="stretch" role="group" aria-label="Numbers of the newest messages" maw={460}>
      <Text size="xs" c="dimmed">
        Numbers of the newest messages
      </Text>
      {found.map(({ topic, path }) => (
        <Button
          key={topic}
          variant="light"
          justify="flex-start"
          onClick={() => addSeries(id, topic, { kind: 'value', path })}
        >
          {`${visibleText(topic)} ${pathText(path)}`}
        </Button>
      ))}
    </Stack>
  );
}

/** The charts with their tools and their table. */
function Board({ add }: { readonly add: () => void }) {
  const { series, windowSeconds, heldAtMs, isSplit } = useCharts();
  const panels = useMemo(() => panelsOf(series, isSplit), [series, isSplit]);
  const [cursorAtMs, setCursorAtMs] = useState<number>();
  const range = (): TimeRange => {
    const toMs = heldAtMs ?? Date.now();
    return { fromMs: toMs - windowSeconds * 1_000, toMs };
  };
  const connectionNames = useConnectionNames(series);
  useInterval(useForceUpdate(), TABLE_INTERVAL_MS, { autoInvoke: true });
  const windowName = chartsWords.windows[windowSeconds as (typeof WINDOW_SECONDS)[number]];
  return (
    <>
      <ChartsToolbar add={add} />
      <div className={classes.charts} data-several={panels.length > 1 || undefined}>
        {panels.map((own, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a chart has no other name
          <div className={classes.chart} key={index}>
            <Chart
              label={
                panels.length > 1
                  ? `Chart ${index + 1}: ${own.filter(({ isHidden }) => !isHidden).length} series over the last ${windowName}`
                  : `Chart of ${own.filter(({ isHidden }) => !isHidden).length} series over the last ${windowName}`
              }
              series={own}
              range={range}
              onCursor={setCursorAtMs}
            />
          </div>
        ))}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must do so by key */}
      {/* biome-ignore lint/a11y/useSemanticElements: it is no part of a form */}
      <div className={classes.tableBox} role="group" aria-label="Series" tabIndex={0}>
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

/** By id. Undefined: all series are of one connection, which needs no name. */
function useConnectionNames(series: readonly Series[]): ReadonlyMap<string, string> | undefined {
  const profiles = useStore((state) => state.profiles);
  return useMemo(() => {
    const isOfSeveral = new Set(series.map(({ connectionId }) => connectionId)).size > 1;
    return isOfSeveral ? new Map(profiles.map(({ id, name }) => [id, name])) : undefined;
  }, [series, profiles]);
}
