import {
  billOf,
  compare,
  type Estimate,
  estimate,
  findingOf,
  type GivenWorkload,
  nodeDoor,
  PRICE_BOOK_DATE,
  PRICE_BOOK_REGION,
  usdPerMillion,
  usdText,
  WorkloadError,
} from '@apus/cost';
import { Alert, Grid, List, Text, Title } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { BillTable } from './bill-table.tsx';
import classes from './costs-view.module.css';
import { OBSERVED_MS_ENOUGH, type Observed } from './observe.ts';
import { ObservedCard, restOf } from './observed-card.tsx';
import { OffersTable } from './offers-table.tsx';
import { WorkloadFields } from './workload-fields.tsx';

/** A fleet that users can easily compare with their own. */
const FIRST_WORKLOAD: GivenWorkload = {
  clients: 1_000,
  hours: 24,
  publishesPerHour: 60,
  fanOut: 1,
  qos: 1,
  bytes: 200,
};

/** The bill of a workload at the gateway door, and its price at other services. */
export function CostsView() {
  const { t } = useTranslation();
  const [workload, setWorkload] = useState<GivenWorkload>(FIRST_WORKLOAD);
  const estimated = useMemo(() => estimateOf(workload), [workload]);
  const [rest, setRest] = useState<Observed>();
  const change = (changes: GivenWorkload): void => setWorkload({ ...workload, ...changes });
  const take = (changes: GivenWorkload, observed: Observed): void => {
    change(changes);
    setRest(observed);
  };
  return (
    <div className={classes.view}>
      <Title order={2} size="h4">
        {t('costs.title')}
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        {t('costs.intro', { region: PRICE_BOOK_REGION, date: PRICE_BOOK_DATE })}
      </Text>
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 4 }}>
          <ObservedCard onTake={take} />
          <WorkloadFields workload={workload} onChange={change} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 8 }}>
          {'problem' in estimated ? (
            <Alert color="red" variant="light" title={t('costs.wrong')}>
              {estimated.problem}
            </Alert>
          ) : (
            <Result estimated={estimated} rest={rest} />
          )}
        </Grid.Col>
      </Grid>
    </div>
  );
}

interface ResultProps {
  readonly estimated: Estimate;
  /** The connection whose rates were taken over, if any. */
  readonly rest: Observed | undefined;
}

function Result({ estimated, rest }: ResultProps) {
  const { t } = useTranslation();
  const { usage, operations, traffic, assumptions, workload } = estimated;
  const bill = billOf(usage);
  const offers = compare(traffic);
  const node = nodeDoor(traffic);
  const { sentences } = findingOf(bill, { operations, offers, nodeDoor: node });
  const perMillion = usdPerMillion(bill.usd, traffic.deliveries);
  return (
    <>
      <section className={classes.card} aria-label={t('costs.bill')}>
        <Text component="h3" className={classes.heading}>
          {t('costs.bill')}
        </Text>
        <Text className={classes.total} data-testid="costs-total">
          {usdText(bill.usd)}
        </Text>
        {rest !== undefined && rest.spanMs < OBSERVED_MS_ENOUGH && (
          <Text size="sm" fw={600} c="var(--mantine-color-error)">
            {t('costs.restsOnLittle', restOf(rest))}
          </Text>
        )}
        <Text size="xs" c="dimmed" mb="xs">
          {t('costs.perClient', {
            usd: usdText(bill.usd / workload.clients),
            perMillion: perMillion === undefined ? '–' : usdText(perMillion),
          })}
        </Text>
        <BillTable bill={bill} />
      </section>
      <section className={classes.card} aria-label={t('costs.elsewhere')}>
        <Text component="h3" className={classes.heading}>
          {t('costs.elsewhere')}
        </Text>
        <OffersTable
          offers={[
            { name: t('costs.here'), usd: bill.usd, misfits: [], isHere: true },
            { name: t('costs.nodeDoor'), usd: node.usd, misfits: node.misfits, isHere: false },
            ...offers.map(({ service, bill: { usd }, misfits }) => ({
              name: service,
              usd,
              misfits,
              isHere: false,
            })),
          ]}
        />
      </section>
      <section className={classes.card} aria-label={t('costs.finding')}>
        <Text component="h3" className={classes.heading}>
          {t('costs.finding')}
        </Text>
        <Sentences sentences={sentences} />
        <Text component="h3" className={classes.heading} mt="md">
          {t('costs.assumptions')}
        </Text>
        <Sentences sentences={assumptions} />
      </section>
    </>
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
