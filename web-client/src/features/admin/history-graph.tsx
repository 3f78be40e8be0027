import type { MonitorSample } from '@apus/api';
import { SegmentedControl, Text } from '@mantine/core';
import { useCallback, useMemo, useState } from 'react';
import type { AdminApi } from './admin-api.ts';
import classes from './admin-view.module.css';
import { LOOKS, type Look, linesOf, RANGES, type Range, withLive } from './history.ts';
import { observingWords } from './observing-strings.ts';
import { RateGraph } from './rate-graph.tsx';
import type { RatePoint } from './rates.ts';
import { usePoll } from './use-poll.ts';

/** The broker takes a sample twice a minute. */
const LOOK_MS = 15_000;

interface HistoryGraphProps {
  readonly api: AdminApi;
  /** Of this page, every two seconds. */
  readonly live: readonly RatePoint[];
}

/** Figures over time: those that the broker has kept, and in the shortest range what this page has seen since. */
export function HistoryGraph({ api, live }: HistoryGraphProps) {
  const [range, setRange] = useState<Range>('live');
  const [look, setLook] = useState<Look>('messages');
  const latest = RANGES[range];
  const ask = useCallback(
    (signal: AbortSignal) =>
      api.get<readonly MonitorSample[]>('/monitor', { latest: String(latest) }, signal),
    [api, latest],
  );
  const { value } = usePoll(ask, LOOK_MS);
  const { times, lines } = useMemo(() => {
    const kept = linesOf(value ?? [], look, latest);
    return range === 'live' && look === 'messages' ? withLive(kept, live) : kept;
  }, [value, look, latest, range, live]);
  const what = observingWords.history.looks[look];
  const unit = look === 'clients' ? 'clients' : 'messages a second';
  return (
    <>
      <div className={classes.ranges}>
        <SegmentedControl
          size="xs"
          aria-label="Lines of the graph"
          data={LOOKS.map((each) => ({ value: each, label: observingWords.history.looks[each] }))}
          value={look}
          onChange={setLook}
        />
        <SegmentedControl
          size="xs"
          aria-label="Time of the graph"
          data={(Object.keys(RANGES) as Range[]).map((each) => ({
            value: each,
            label: observingWords.history.ranges[each],
          }))}
          value={range}
          onChange={(chosen) => setRange(chosen as Range)}
        />
      </div>
      {times.length === 0 && (
        <Text size="xs" c="dimmed" role="status" mb={4}>
          The broker has no figures of this time yet: it takes them twice a minute.
        </Text>
      )}
      <RateGraph
        key={look}
        label={`${what} over the last ${observingWords.history.ranges[range]}`}
        unit={unit}
        times={times}
        lines={lines}
      />
    </>
  );
}
