import { useCallback, useRef } from 'react';
import { t } from '../../i18n/index.ts';
import { formatCount, formatRate } from '../../ui/format.ts';
import type { AdminApi, Figures } from './admin-api.ts';
import classes from './admin-view.module.css';
import { HistoryGraph } from './history-graph.tsx';
import { type RatePoint, rateOf, type Sample, withPoint } from './rates.ts';
import { Refusal } from './refusal.tsx';
import { usePoll } from './use-poll.ts';

interface Look {
  readonly stats: Figures;
  readonly now: Sample;
  readonly before: Sample | undefined;
  readonly points: readonly RatePoint[];
}

/** The broker in numbers. */
export function FiguresBar({ api }: { readonly api: AdminApi }) {
  const last = useRef<Look>(undefined);
  const ask = useCallback(
    async (signal: AbortSignal): Promise<Look> => {
      const [stats, metrics] = await Promise.all([
        api.figures('stats', signal),
        api.figures('metrics', signal),
      ]);
      const now = { atMs: performance.now(), metrics };
      const before = last.current?.now;
      const points = withPoint(last.current?.points ?? [], before, now, Date.now());
      const look = { stats, now, before, points };
      last.current = look;
      return look;
    },
    [api],
  );
  const { value, error } = usePoll(ask, api.pollMs);
  const uptime = useUptime(value?.now.metrics.uptime_seconds ?? 0);
  if (error !== undefined) return <Refusal error={error} />;
  if (value === undefined) return null;
  const { stats, now } = value;
  const count = (figures: Figures, name: string): string => formatCount(figures[name] ?? 0);
  const rate = (name: string): string => {
    const perSecond = rateOf(value.before, now, name);
    return perSecond === undefined ? '' : t('app.perSecond', { rate: formatRate(perSecond) });
  };
  return (
    <>
      <dl className={classes.figures} aria-label={t('admin.figures')}>
        <Figure name={t('admin.clients')} value={count(stats, 'live_connections.count')} />
        <Figure name={t('admin.sessions')} value={count(stats, 'sessions.count')} />
        <Figure name={t('admin.subscriptions')} value={count(stats, 'subscriptions.count')} />
        <Figure name={t('admin.retained')} value={count(stats, 'retained.count')} />
        <Figure
          name={t('admin.received')}
          value={count(now.metrics, 'messages.received')}
          detail={rate('messages.received')}
        />
        <Figure
          name={t('admin.sent')}
          value={count(now.metrics, 'messages.sent')}
          detail={rate('messages.sent')}
        />
        <Figure
          name={t('admin.dropped')}
          value={count(now.metrics, 'delivery.dropped')}
          detail={rate('delivery.dropped')}
        />
        <Figure name={t('admin.uptime')} value={uptime} />
      </dl>
      <HistoryGraph api={api} live={value.points} />
    </>
  );
}

/** Coarse: the seconds of a broker that has run for days do not matter. */
function useUptime(seconds: number): string {
  const hours = Math.floor(seconds / 3_600);
  if (seconds < 60) return t('admin.seconds', { count: seconds });
  if (hours < 1) return t('admin.minutes', { count: Math.floor(seconds / 60) });
  return hours < 48 ? t('admin.hours', { count: hours }) : t('admin.days', { count: Math.floor(hours / 24) });
}

interface FigureProps {
  readonly name: string;
  readonly value: string;
  readonly detail?: string;
}

export function Figure({ name, value, detail = '' }: FigureProps) {
  return (
    <div className={classes.figure}>
      <dt>{name}</dt>
      <dd>
        {value}
        {detail !== '' && <span className={classes.rate}>{detail}</span>}
      </dd>
    </div>
  );
}
