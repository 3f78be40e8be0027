import { useTranslation } from 'react-i18next';
import { formatCount } from '../../ui/format.ts';
import { isRunning } from './bench-store.ts';
import classes from './bench-view.module.css';
import type { BenchSnapshot } from './result.ts';

const PERCENTILES = ['minMs', 'p50Ms', 'p90Ms', 'p99Ms', 'p999Ms', 'maxMs'] as const;

/** One digit more than elsewhere, since latencies matter here. */
const milliseconds = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 4 });

/** The counts and latencies of a run. */
export function BenchNumbers({ snapshot }: { readonly snapshot: BenchSnapshot }) {
  const { t } = useTranslation();
  const { expected, missing, duplicates, outOfOrder, behind, failed, latency } = snapshot;
  const ofExpected = t('bench.ofExpected', { expected: formatCount(expected) });
  const missingNote = t(isRunning(snapshot.phase) ? 'bench.underWay' : 'bench.lost');
  const isOver = !isRunning(snapshot.phase);
  return (
    <>
      <dl className={classes.numbers} aria-label={t('bench.numbers')}>
        <Figure label={t('bench.published')} value={formatCount(snapshot.published)} />
        <Figure label={t('bench.acknowledged')} value={formatCount(snapshot.acknowledged)} />
        <Figure label={t('bench.received')} value={formatCount(snapshot.received)} note={ofExpected} />
        <Figure
          label={t('bench.missing')}
          value={formatCount(missing)}
          note={missingNote}
          isBad={isOver && missing > 0}
        />
        <Figure label={t('bench.duplicates')} value={formatCount(duplicates)} isBad={duplicates > 0} />
        <Figure label={t('bench.outOfOrder')} value={formatCount(outOfOrder)} isBad={outOfOrder > 0} />
        {behind > 0 && (
          <Figure label={t('bench.behind')} value={formatCount(behind)} note={t('bench.behindNote')} isBad />
        )}
        {failed > 0 && <Figure label={t('bench.failedPublishes')} value={formatCount(failed)} isBad />}
      </dl>
      {latency !== undefined && (
        <>
          <h2 className={classes.heading}>{t('bench.latency')}</h2>
          <p className={classes.note}>{t('bench.latencyNote')}</p>
          <dl className={classes.numbers}>
            {PERCENTILES.map((name) => (
              <Figure
                key={name}
                label={t(`bench.percentiles.${name}`)}
                value={`${milliseconds.format(latency[name])} ms`}
              />
            ))}
          </dl>
        </>
      )}
    </>
  );
}

interface FigureProps {
  readonly label: string;
  readonly value: string;
  readonly note?: string;
  readonly isBad?: boolean;
}

function Figure({ label, value, note, isBad = false }: FigureProps) {
  return (
    <div className={classes.figure} data-bad={isBad || undefined}>
      <dt>{label}</dt>
      <dd>
        {value}
        {note !== undefined && <span>{note}</span>}
      </dd>
    </div>
  );
}
