import { Select, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isRecording } from '../../state/recording-ids.ts';
import { useStore } from '../../state/store.ts';
import { formatBytes, formatCount, formatDateTime, formatDuration } from '../../ui/format.ts';
import type { FiledMessage } from './message-record.ts';
import { OpenRecording } from './open-recording.tsx';
import { ReplayForm } from './replay-form.tsx';

/** Messages of a file: how many, of when, and the form to publish them again. */
export function FoundMessages({ messages }: { readonly messages: readonly FiledMessage[] }) {
  const { t } = useTranslation();
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
      <OpenRecording messages={messages} />
      <Replay messages={messages} />
    </>
  );
}

/** Over a connection, which is the one that is shown unless that is a recording itself. */
function Replay({ messages }: { readonly messages: readonly FiledMessage[] }) {
  const { t } = useTranslation();
  const activeId = useStore((state) => state.activeId);
  const profiles = useStore((state) => state.profiles).filter(({ id }) => !isRecording(id));
  const [chosenId, setChosenId] = useState<string | null>(null);
  const profile =
    profiles.find(({ id }) => id === chosenId) ?? profiles.find(({ id }) => id === activeId) ?? profiles[0];
  if (profile === undefined) return <Text size="sm">{t('transfer.noConnection')}</Text>;
  return (
    <>
      {profiles.length > 1 && (
        <Select
          mt="md"
          w={250}
          label={t('transfer.over')}
          allowDeselect={false}
          data={profiles.map(({ id, name, url }) => ({ value: id, label: name === '' ? url : name }))}
          value={profile.id}
          onChange={setChosenId}
        />
      )}
      <ReplayForm messages={messages} profile={profile} />
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
