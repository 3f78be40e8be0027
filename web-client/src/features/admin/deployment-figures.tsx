import type { BreakerLine } from '@apus/api';
import { Button } from '@mantine/core';
import { useCallback } from 'react';
import { t } from '../../i18n/index.ts';
import { formatCount, formatExact, formatMinute } from '../../ui/format.ts';
import type { AdminApi, Figures } from './admin-api.ts';
import classes from './admin-view.module.css';
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
      <dl className={classes.figures} aria-label={t('admin.figures')}>
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
        {t('admin.bounds.refresh')}
      </Button>
    </>
  );
}

function BreakerFigures({ breaker }: { readonly breaker: BreakerLine }) {
  const { state, messages_last_minute, messages_per_minute_max, last_minute_at } = breaker;
  const max = formatExact(messages_per_minute_max);
  return (
    <>
      <Figure name={t('admin.bounds.breaker')} value={t(`admin.bounds.states.${state}`)} />
      {messages_last_minute === null || last_minute_at === null ? (
        <Figure name={t('admin.bounds.lastMinute')} value="–" detail={t('admin.bounds.none')} />
      ) : (
        <Figure
          name={t('admin.bounds.lastMinute')}
          value={formatExact(messages_last_minute)}
          detail={t('admin.bounds.ofMax', { max, time: formatMinute(Date.parse(last_minute_at)) })}
        />
      )}
    </>
  );
}

function Now({ stats }: { readonly stats: Figures }) {
  return (
    <>
      <Figure name={t('admin.clients')} value={formatCount(stats['live_connections.count'] ?? 0)} />
      <Figure name={t('admin.sessions')} value={formatCount(stats['sessions.count'] ?? 0)} />
    </>
  );
}

/** Counts of the calendar month in UTC. */
function Month({ metrics }: { readonly metrics: Figures }) {
  const detail = t('admin.bounds.thisMonth');
  const count = (name: string): string => formatCount(metrics[name] ?? 0);
  return (
    <>
      <Figure name={t('admin.received')} value={count('messages.received')} detail={detail} />
      <Figure name={t('admin.sent')} value={count('messages.sent')} detail={detail} />
      <Figure name={t('admin.dropped')} value={count('delivery.dropped')} detail={detail} />
    </>
  );
}
