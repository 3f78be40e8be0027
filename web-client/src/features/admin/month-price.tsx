import {
  type Bill,
  billOf,
  compare,
  type Estimate,
  estimate,
  findingOf,
  type GivenWorkload,
  nodeDoor,
  offerText,
  PRICE_BOOK_DATE,
  PRICE_BOOK_REGION,
  usdPerMillion,
  usdText,
  WorkloadError,
} from '@apus/cost';
import { Alert, List, Text } from '@mantine/core';
import { type ReactNode, useCallback } from 'react';
import { formatBytes, formatCount, formatSeconds, plural } from '../../ui/format.ts';
import type { AdminApi } from './admin-api.ts';
import classes from './month-price.module.css';
import { MEASURED_MS_ENOUGH, type Measured, measured, measuredMs, workloadOf } from './month-workload.ts';
import { Refusal } from './refusal.tsx';
import { Table } from './table.tsx';
import { usePoll } from './use-poll.ts';

const POLL_MS = 10_000;

/** The price of a month, at what the broker has measured: at the gateway door, and elsewhere. */
export function MonthPrice({ api }: { readonly api: AdminApi }) {
  const ask = useCallback(
    async (signal: AbortSignal) => {
      const [stats, metrics] = await Promise.all([
        api.figures('stats', signal),
        api.figures('metrics', signal),
      ]);
      return { found: measured(stats, metrics, measuredMs(metrics, api.isDeployment, Date.now())) };
    },
    [api],
  );
  const { value, error } = usePoll(ask, api.pollMs && POLL_MS);
  if (error !== undefined) return <Refusal error={error} />;
  return (
    <>
      <Text size="sm" c="dimmed" mb="md">
        {`What a month of this traffic costs at the gateway door, at list prices of ${PRICE_BOOK_REGION} in ${PRICE_BOOK_DATE}, without free tiers.`}
      </Text>
      {value?.found === undefined ? (
        <Text size="sm">
          {value && 'Nothing has been measured yet: the price comes with the first messages.'}
        </Text>
      ) : (
        <Result found={value.found} />
      )}
    </>
  );
}

function Result({ found }: { readonly found: Measured }) {
  const estimated = estimateOf(workloadOf(found));
  if ('problem' in estimated)
    return (
      <Alert color="red" variant="light" title="This cannot be estimated">
        {estimated.problem}
      </Alert>
    );
  const { usage, operations, traffic, assumptions } = estimated;
  const bill = billOf(usage);
  const offers = compare(traffic);
  const node = nodeDoor(traffic);
  const { sentences } = findingOf(bill, { operations, offers, nodeDoor: node });
  return (
    <>
      <Card title="The bill of a month">
        <Text className={classes.total} data-testid="month-price">
          {usdText(bill.usd)}
        </Text>
        <Basis found={found} />
        <Text size="xs" c="dimmed" mb="xs">
          {`${usdText(bill.usd / found.clients)} for each client, ${usdText(usdPerMillion(bill.usd, traffic.deliveries) ?? 0)} for a million deliveries`}
        </Text>
        <BillTable bill={bill} />
      </Card>
      <Card title="The same traffic elsewhere">
        <OffersTable
          offers={[
            { service: 'Apus, gateway door', usd: bill.usd, misfits: [] },
            { service: 'Apus, node door on one small machine', usd: node.usd, misfits: node.misfits },
            ...offers.map(({ service, bill: { usd }, misfits }) => ({ service, usd, misfits })),
          ]}
        />
      </Card>
      <Card title="Conclusion">
        <Sentences sentences={sentences} />
      </Card>
      <Card title="Assumptions">
        <Sentences sentences={assumptions} />
      </Card>
    </>
  );
}

function Basis({ found }: { readonly found: Measured }) {
  const { spanMs, clients, messages, receivedPerHour, sentPerHour, bytes = 0 } = found;
  const duration = formatSeconds(spanMs);
  return (
    <>
      <Text size="xs">
        {`Measured over ${duration}: ${formatCount(clients)} ${plural(clients, 'client', 'clients')}; ${formatCount(receivedPerHour)} messages in and ${formatCount(sentPerHour)} out an hour, ${formatBytes(bytes)} a message with all packets.`}{' '}
        Assumed: the clients that are connected now stay, and go on like that all month.
      </Text>
      {spanMs < MEASURED_MS_ENOUGH && (
        <Text size="xs" fw={600} c="var(--mantine-color-error)">
          {`It rests on ${messages} ${plural(messages, 'message', 'messages')} in ${duration}: too little to say what a month brings.`}
        </Text>
      )}
    </>
  );
}

function Card({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className={classes.card} aria-label={title}>
      <h3 className={classes.heading}>{title}</h3>
      {children}
    </section>
  );
}

const NUMBERS = ['Quantity', 'Price of one', 'Dollars', 'Share'];

function numberHead(title: string) {
  return (
    <th key={title} scope="col" className={classes.number}>
      {title}
    </th>
  );
}

/** Smaller prices are given for a million. */
const UNIT_USD_MIN = 0.01;
const MILLION = 1_000_000;

function unitText(usd: number): string {
  return usd >= UNIT_USD_MIN ? usdText(usd) : `${usdText(usd * MILLION)} / M`;
}

/** The lines of a bill, the most expensive first. */
function BillTable({ bill }: { readonly bill: Bill }) {
  return (
    <Table label="The bill of a month" columns={['Line', ...NUMBERS.map(numberHead)]} empty={undefined}>
      {bill.lines.map(({ label, quantity, unitUsd, usd, share }) => (
        <tr key={label}>
          <th scope="row">{label}</th>
          {[formatCount(quantity), unitText(unitUsd), usdText(usd), `${(share * 100).toFixed(1)} %`].map(
            (text, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the columns stay as they are
              <td className={classes.number} key={index}>
                {text}
              </td>
            ),
          )}
        </tr>
      ))}
    </Table>
  );
}

/** A service that could carry the traffic, with its monthly price. */
interface Offer {
  readonly service: string;
  readonly usd: number;
  /** The reasons why it does not carry it; empty if it does. */
  readonly misfits: readonly string[];
}

/** The cheapest first. */
function OffersTable({ offers }: { readonly offers: readonly Offer[] }) {
  return (
    <Table
      label="The same traffic elsewhere"
      columns={['Service', numberHead('A month'), 'Lacks, where in brackets']}
      empty={undefined}
    >
      {offers
        .toSorted((a, b) => a.usd - b.usd)
        .map((offer) => (
          <tr key={offer.service} data-here={offer.service === 'Apus, gateway door' || undefined}>
            <th scope="row">{offer.service}</th>
            <td className={classes.number}>{offerText(offer)}</td>
            <td className={classes.misfit}>{offer.misfits.join(' ')}</td>
          </tr>
        ))}
    </Table>
  );
}

function Sentences({ sentences }: { readonly sentences: readonly string[] }) {
  return (
    <List size="xs" spacing={4}>
      {sentences.map((sentence) => (
        <List.Item key={sentence}>{sentence}</List.Item>
      ))}
    </List>
  );
}

function estimateOf(workload: GivenWorkload): Estimate | { readonly problem: string } {
  try {
    return estimate(workload);
  } catch (error) {
    if (error instanceof WorkloadError) return { problem: error.message };
    throw error;
  }
}
