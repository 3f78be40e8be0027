import type { BreakerLine } from '@apus/api';
import { Alert, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { t } from '../../i18n/index.ts';
import { formatDateTime, formatExact } from '../../ui/format.ts';

/** A tripped breaker stops nearly all traffic: the operator has to see it first. */
export function BreakerAlert({ breaker }: { readonly breaker: BreakerLine }) {
  const { since, closes_at, frames_per_second_max, messages_per_minute_max } = breaker;
  const timeOf = (time: string | null): string =>
    time === null ? t('admin.bounds.unknownTime') : formatDateTime(Date.parse(time));
  const parts = [
    t('admin.bounds.trippedText', { since: timeOf(since), count: frames_per_second_max }),
    closes_at === null
      ? t('admin.bounds.closesNever')
      : t('admin.bounds.closesAt', { time: timeOf(closes_at) }),
    t('admin.bounds.limit', { max: formatExact(messages_per_minute_max) }),
  ];
  return (
    <Alert
      color="red"
      variant="light"
      role="alert"
      mb="md"
      maw={760}
      icon={<IconAlertTriangle size={18} stroke={1.75} />}
      title={t('admin.bounds.tripped')}
    >
      {parts.map((part) => (
        <Text key={part} size="sm">
          {part}
        </Text>
      ))}
    </Alert>
  );
}
