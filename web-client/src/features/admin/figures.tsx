import { useCallback, useRef } from 'react';
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
  if (error !== undefined) return <Refusal error={error} />;
  if (value === undefined) return null;
  const { stats, now } = value;
  const count = (figures: Figures, name: string): string => formatCount(figures[name] ?? 0);
  const rate = (name: string): string => {
    const perSecond = rateOf(value.before, now, name);
    return perSecond === undefined ? '' : `${formatRate(perSecond)}/s`;
  };
  return (
    <>
      <dl className={classes.figures} aria-label="The broker in numbers">
        <Figure name="Clients connected" value={count(stats, 'live_connections.count')} />
        <Figure name="Sessions" value={count(stats, 'sessions.count')} />
        <Figure name="Subscriptions" value={count(stats, 'subscriptions.count')} />
        <Figure name="Retained messages" value={count(stats, 'retained.count')} />
        <Figure
          name="Messages received"
          value={count(now.metrics, 'messages.received')}
          detail={rate('messages.received')}
        />
        <Figure
          name="Messages sent"
          value={count(now.metrics, 'messages.sent')}
          detail={rate('messages.sent')}
        />
        <Figure
          name="Messages dropped"
          value={count(now.metrics, 'delivery.dropped')}
          detail={rate('delivery.dropped')}
        />
        <Figure name="Running for" value={uptimeText(now.metrics.uptime_seconds ?? 0)} />
      </dl>
      <HistoryGraph api={api} live={value.points} />
    </>
  );
}

/** Coarse: the seconds of a broker that has run for days do not matter. */
function uptimeText(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  const hours = Math.floor(seconds / 3_600);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`;
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
