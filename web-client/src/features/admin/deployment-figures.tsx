import type { BreakerLine } from '@apus/api';
import { Button } from '@mantine/core';
import { useCallback } from 'react';
import { formatCount, formatExact, formatMinute } from '../../ui/format.ts';
import type { AdminApi, Figures } from './admin-api.ts';
import classes from './admin-view.module.css';
import { boundsWords } from './bounds-strings.ts';
import { BreakerAlert } from './breaker-alert.tsx';
import { Figure } from './figures.tsx';
import { Refusal } from './refusal.tsx';
import { usePoll } from './use-poll.ts';

/** A deployment in numbers, as far as it counts, and its breaker. CloudWatch has the other numbers. */
export function DeploymentFigures({ api }: { readonly api: AdminApi }) {
  const stats = usePoll(
    useCallback((signal: AbortSignal) => api.figures('stats', signal), [api]),
    api.pollMs,
  );
  const metrics = usePoll(
    useCallback((signal: AbortSignal) => api.figures('metrics', signal), [api]),
    api.pollMs,
  );
  const breaker = usePoll(
    useCallback((signal: AbortSignal) => api.breaker(signal), [api]),
    api.pollMs,
  );
  const asked = [stats, breaker, metrics];
  const error = asked.find((each) => each.error !== undefined)?.error;
  return (
    <>
      {error !== undefined && <Refusal error={error} />}
      {breaker.value?.state === 'tripped' && <BreakerAlert breaker={breaker.value} />}
      <dl className={classes.figures} aria-label="The broker in numbers">
        {breaker.value !== undefined && <BreakerFigures breaker={breaker.value} />}
        {stats.value !== undefined && <Now stats={stats.value} />}
        {metrics.value !== undefined && <Month metrics={metrics.value} />}
      </dl>
      <Button
        variant="default"
        size="xs"
        mb="md"
        onClick={() => {
          for (const { refresh } of asked) refresh();
        }}
      >
        Refresh the numbers
      </Button>
    </>
  );
}

function BreakerFigures({ breaker }: { readonly breaker: BreakerLine }) {
  const { state, messages_last_minute, messages_per_minute_max, last_minute_at } = breaker;
  const max = formatExact(messages_per_minute_max);
  return (
    <>
      <Figure name="Breaker" value={boundsWords.states[state]} />
      {messages_last_minute === null || last_minute_at === null ? (
        <Figure name="Gateway messages a minute" value="–" detail="none of late" />
      ) : (
        <Figure
          name="Gateway messages a minute"
          value={formatExact(messages_last_minute)}
          detail={`of ${max}, ${formatMinute(Date.parse(last_minute_at))}`}
        />
      )}
    </>
  );
}

function Now({ stats }: { readonly stats: Figures }) {
  return (
    <>
      <Figure name="Clients connected" value={formatCount(stats['live_connections.count'] ?? 0)} />
      <Figure name="Sessions" value={formatCount(stats['sessions.count'] ?? 0)} />
    </>
  );
}

/** Counts of the calendar month in UTC. */
function Month({ metrics }: { readonly metrics: Figures }) {
  const detail = 'this month';
  const count = (name: string): string => formatCount(metrics[name] ?? 0);
  return (
    <>
      <Figure name="Messages received" value={count('messages.received')} detail={detail} />
      <Figure name="Messages sent" value={count('messages.sent')} detail={detail} />
      <Figure name="Messages dropped" value={count('delivery.dropped')} detail={detail} />
    </>
  );
}
