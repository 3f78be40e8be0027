import { PRICE_BOOK_DATE, PRICE_BOOK_REGION, priceBook, usdText } from '@apus/cost';
import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { GatewayTraffic } from '../../engine/types.ts';
import { formatCount } from '../../ui/format.ts';
import classes from './frames-view.module.css';
import { savingOf, usdOfMessages } from './savings.ts';

/** The bill of all frames of a connection, beside one frame for each packet. */
export function FrameSums({ traffic }: { readonly traffic: GatewayTraffic }) {
  const { t } = useTranslation();
  const { billed, alone, saved, share } = savingOf(traffic);
  const { framesSent, framesReceived, packets, pingsAnswered, pubacksDropped } = traffic;
  const isDearer = saved < 0;
  return (
    <section className={classes.sums} aria-label={t('frames.sums.label')}>
      <dl className={classes.figures}>
        <Figure label={t('frames.sums.frames')} value={formatCount(framesSent + framesReceived)} />
        <Figure label={t('frames.sums.packets')} value={formatCount(packets)} />
        <Messages label={t('frames.sums.billed')} count={billed} />
        <Messages label={t('frames.sums.alone')} count={alone} />
        <Messages
          label={isDearer ? t('frames.sums.dearer') : t('frames.sums.saved')}
          count={Math.abs(saved)}
          note={isDearer ? undefined : t('frames.sums.share', { percent: formatCount(share * 100) })}
        />
      </dl>
      <Text size="xs" c="dimmed">
        {t('frames.basis', {
          usd: usdText(priceBook.gatewayMessage.usd),
          region: PRICE_BOOK_REGION,
          date: PRICE_BOOK_DATE,
        })}{' '}
        {pingsAnswered + pubacksDropped > 0 &&
          t('frames.kept', { pings: formatCount(pingsAnswered), pubacks: formatCount(pubacksDropped) })}
      </Text>
    </section>
  );
}

interface MessagesProps {
  readonly label: string;
  readonly count: number;
  readonly note?: string | undefined;
}

function Messages({ label, count, note }: MessagesProps) {
  const { t } = useTranslation();
  const value = t('frames.messages', { count, shown: formatCount(count) });
  return <Figure label={label} value={value} notes={[usdOfMessages(count), note]} />;
}

interface FigureProps {
  readonly label: string;
  readonly value: string;
  readonly notes?: readonly (string | undefined)[];
}

function Figure({ label, value, notes = [] }: FigureProps) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        {value}
        {notes.map((note) => note !== undefined && <small key={note}>{note}</small>)}
      </dd>
    </div>
  );
}
