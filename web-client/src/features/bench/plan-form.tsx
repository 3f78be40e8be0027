import { Button, NumberInput, Select, Stack, Text } from '@mantine/core';
import { IconPlayerPlay, IconPlayerStop } from '@tabler/icons-react';
import type { FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import type { ConnectionProfile } from '../../engine/types.ts';
import { isMissingSecrets } from '../../state/secrets.ts';
import { formatCount } from '../../ui/format.ts';
import { QosInput } from '../../ui/qos-input.tsx';
import { isRunning, setPlan, startBench, stopBench, useBench } from './bench-store.ts';
import { CONNECTIONS_MAX } from './limits.ts';
import { type BenchPlan, copiesOf, PLAN_RANGES, type PlanNumber, problemsOf } from './plan.ts';

const FAN_OUTS = ['all', 'pairs', 'shared'] as const;
const NUMBERS_BEFORE: readonly PlanNumber[] = ['publishers', 'subscribers'];
const NUMBERS_AFTER: readonly PlanNumber[] = ['ratePerSecond', 'payloadBytes', 'durationSeconds'];

/** The form for the plan of a run. */
export function PlanForm({ profile }: { readonly profile: ConnectionProfile }) {
  const { t } = useTranslation();
  const { plan, result } = useBench();
  const running = isRunning(result?.snapshot.phase);
  const problems = problemsOf(plan);
  const hasNoSecrets = isMissingSecrets(profile);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (problems.length === 0 && !hasNoSecrets) startBench(profile);
  };
  const number = (name: PlanNumber) => (
    <PlanNumberInput
      key={name}
      name={name}
      plan={plan}
      isWrong={problems.includes(name)}
      disabled={running}
    />
  );
  return (
    <form onSubmit={submit} aria-label={t('bench.plan')}>
      <Stack gap="xs" p="sm">
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {t('bench.lead', { url: profile.url })}
        </Text>
        {NUMBERS_BEFORE.map(number)}
        {problems.includes('connections') && (
          <Text size="xs" c="var(--mantine-color-error)" role="alert">
            {t('bench.tooMany', { count: CONNECTIONS_MAX })}
          </Text>
        )}
        <Select
          label={t('bench.fanOut')}
          data={FAN_OUTS.map((value) => ({ value, label: t(`bench.fanOuts.${value}`) }))}
          value={plan.fanOut}
          disabled={running}
          onChange={(value) => setPlan({ fanOut: FAN_OUTS.find((known) => known === value) ?? 'all' })}
        />
        {NUMBERS_AFTER.map(number)}
        <QosInput
          label={t('bench.qos')}
          value={plan.qos}
          disabled={running}
          onChange={(qos) => setPlan({ qos })}
        />
        <Text size="xs" c="dimmed">
          {t('bench.deliveries', { rate: formatCount(deliveriesPerSecond(plan)) })}
        </Text>
        {running ? (
          <Button color="red.9" leftSection={<IconPlayerStop size={15} />} onClick={stopBench}>
            {t('bench.stop')}
          </Button>
        ) : (
          <Button
            type="submit"
            leftSection={<IconPlayerPlay size={15} />}
            disabled={problems.length > 0 || hasNoSecrets}
          >
            {t('bench.start')}
          </Button>
        )}
        {hasNoSecrets && (
          <Text size="xs" c="var(--mantine-color-error)">
            {t('bench.noSecrets')}
          </Text>
        )}
      </Stack>
    </form>
  );
}

interface PlanNumberInputProps {
  readonly name: PlanNumber;
  readonly plan: BenchPlan;
  readonly isWrong: boolean;
  readonly disabled: boolean;
}

function PlanNumberInput({ name, plan, isWrong, disabled }: PlanNumberInputProps) {
  const { t } = useTranslation();
  const { min, max } = PLAN_RANGES[name];
  const range = t('bench.range', { min: formatCount(min), max: formatCount(max) });
  return (
    <NumberInput
      label={t(`bench.${name}`)}
      allowDecimal={false}
      allowNegative={false}
      thousandSeparator=","
      min={min}
      max={max}
      clampBehavior="none"
      value={plan[name]}
      error={isWrong && range}
      disabled={disabled}
      onChange={(value) => setPlan({ [name]: typeof value === 'number' ? value : Number.NaN })}
    />
  );
}

function deliveriesPerSecond(plan: BenchPlan): number {
  if (problemsOf(plan).length > 0) return 0;
  let copies = 0;
  for (let publisher = 0; publisher < plan.publishers; publisher += 1) copies += copiesOf(publisher, plan);
  return (copies / plan.publishers) * plan.ratePerSecond;
}
