import { Text } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useActiveProfile } from '../../state/hooks.ts';
import { formatBytes, formatCount, formatDateTime, formatDuration } from '../../ui/format.ts';
import type { FiledMessage } from './message-record.ts';
import { ReplayForm } from './replay-form.tsx';

/** Messages of a file: how many, of when, and the form to publish them again. */
export function FoundMessages({ messages }: { readonly messages: readonly FiledMessage[] }) {
  const { t } = useTranslation();
  const profile = useActiveProfile();
  const { topics, bytes } = useMemo(() => measure(messages), [messages]);
  const [first, last] = [messages[0]?.atMs, messages.at(-1)?.atMs];
  return (
    <>
      <Text size="sm">
        {t('transfer.foundMessages', {
          count: messages.length,
          shown: formatCount(messages.length),
          topics: formatCount(topics),
          bytes: formatBytes(bytes),
        })}
      </Text>
      {first !== undefined && last !== undefined && (
        <Text size="xs" c="dimmed">
          {t('transfer.spanning', {
            from: formatDateTime(first),
            to: formatDateTime(last),
            duration: formatDuration(last - first),
          })}
        </Text>
      )}
      {profile === undefined ? (
        <Text size="sm">{t('transfer.noConnection')}</Text>
      ) : (
        <ReplayForm messages={messages} profile={profile} />
      )}
    </>
  );
}

function measure(messages: readonly FiledMessage[]): { readonly topics: number; readonly bytes: number } {
  const topics = new Set<string>();
  let bytes = 0;
  for (const { topic, payload } of messages) {
    topics.add(topic);
    bytes += payload.length;
  }
  return { topics: topics.size, bytes };
}
