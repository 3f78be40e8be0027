import { PRICE_BOOK_DATE, PRICE_BOOK_REGION, priceBook, usdText } from '@apus/cost';
import { Text } from '@mantine/core';
import type { GatewayTraffic } from '../../engine/types.ts';
import { formatCount, plural } from '../../ui/format.ts';
import { savingOf, usdOfMessages } from './savings.ts';
import classes from './wire-view.module.css';

/** The bill of all frames of a connection, beside one frame for each packet. */
export function WireSums({ traffic }: { readonly traffic: GatewayTraffic }) {
  const { billed, alone, saved, share } = savingOf(traffic);
  const { framesSent, framesReceived, packets, pingsAnswered, pubacksDropped } = traffic;
  const isDearer = saved < 0;
  return (
    <section className={classes.sums} aria-label="All frames of this connection">
      <dl className={classes.figures}>
        <Figure label="Frames" value={formatCount(framesSent + framesReceived)} />
        <Figure label="Packets in them" value={formatCount(packets)} />
        <Messages label="Billed" count={billed} />
        <Messages label="One frame for each packet" count={alone} />
        <Messages
          label={isDearer ? 'Dearer by' : 'Saved'}
          count={Math.abs(saved)}
          note={isDearer ? undefined : `${formatCount(share * 100)} %`}
        />
      </dl>
      <Text size="xs" c="dimmed">
        {`API Gateway bills each frame, in either direction, once for every 32 KB begun: ${usdText(priceBook.gatewayMessage.usd)} a million (list price, ${PRICE_BOOK_REGION}, ${PRICE_BOOK_DATE}). Handlers, tables and connection time come on top. An emulated gateway bills nothing: this is what the deployment would be billed.`}{' '}
        {pingsAnswered + pubacksDropped > 0 &&
          `The comparison counts ${formatCount(pingsAnswered)} pings that the transport answered itself (two messages each) and ${formatCount(pubacksDropped)} PUBACK that it left out.`}
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
  const value = plural(count, `${formatCount(count)} message`, `${formatCount(count)} messages`);
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
