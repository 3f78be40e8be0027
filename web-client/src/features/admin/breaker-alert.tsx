import type { BreakerLine } from '@apus/api';
import { Alert, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { formatDateTime, formatExact, plural } from '../../ui/format.ts';

/** A tripped breaker stops nearly all traffic: the operator has to see it first. */
export function BreakerAlert({ breaker }: { readonly breaker: BreakerLine }) {
  const { since, closes_at, frames_per_second_max, messages_per_minute_max } = breaker;
  const timeOf = (time: string | null): string =>
    time === null ? 'an unknown time' : formatDateTime(Date.parse(time));
  const parts = [
    `Since ${timeOf(since)} all clients together may send ${frames_per_second_max} ${plural(frames_per_second_max, 'frame', 'frames')} a second. Messages that wait for workers, rules and bridges stay in their queues, and backends are refused.`,
    closes_at === null
      ? 'It stays so until somebody resets it.'
      : `It closes by itself at the first look after ${timeOf(closes_at)}; there is one every ten minutes.`,
    `It trips at more than ${formatExact(messages_per_minute_max)} gateway messages in a minute. The runbook (“Runaway”) says how to find the cause.`,
  ];
  return (
    <Alert
      color="red"
      variant="light"
      role="alert"
      mb="md"
      maw={760}
      icon={<IconAlertTriangle size={18} stroke={1.75} />}
      title="The breaker has tripped"
    >
      {parts.map((part) => (
        <Text key={part} size="sm">
          {part}
        </Text>
      ))}
    </Alert>
  );
}
