import { PRICE_BOOK_DATE, PRICE_BOOK_REGION, priceBook, usdText } from '@apus/cost';
import { Text } from '@mantine/core';
import type { GatewayTraffic } from '../../engine/types.ts';
import { t } from '../../i18n/index.ts';
import { formatCount } from '../../ui/format.ts';
import { savingOf, usdOfMessages } from './savings.ts';
import classes from './wire-view.module.css';

/** The bill of all frames of a connection, beside one frame for each packet. */
export function WireSums({ traffic }: { readonly traffic: GatewayTraffic }) {
  const { billed, alone, saved, share } = savingOf(traffic);
  const { framesSent, framesReceived, packets, pingsAnswered, pubacksDropped } = traffic;
  const isDearer = saved < 0;
  return (
    <section className={classes.sums} aria-label={t('wire.sums.label')}>
      <dl className={classes.figures}>
        <Figure label={t('wire.sums.frames')} value={formatCount(framesSent + framesReceived)} />
        <Figure label={t('wire.sums.packets')} value={formatCount(packets)} />
        <Messages label={t('wire.sums.billed')} count={billed} />
        <Messages label={t('wire.sums.alone')} count={alone} />
        <Messages
          label={isDearer ? t('wire.sums.dearer') : t('wire.sums.saved')}
          count={Math.abs(saved)}
          note={isDearer ? undefined : t('wire.sums.share', { percent: formatCount(share * 100) })}
        />
      </dl>
      <Text size="xs" c="dimmed">
        {t('wire.basis', {
          usd: usdText(priceBook.gatewayMessage.usd),
          region: PRICE_BOOK_REGION,
          date: PRICE_BOOK_DATE,
        })}{' '}
        {pingsAnswered + pubacksDropped > 0 &&
          t('wire.kept', { pings: formatCount(pingsAnswered), pubacks: formatCount(pubacksDropped) })}
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
  const value = t('wire.messages', { count, shown: formatCount(count) });
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
