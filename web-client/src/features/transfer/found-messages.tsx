import { Button, Group, Text } from '@mantine/core';
import { IconFileText } from '@tabler/icons-react';
import { useMemo } from 'react';
import { openRecording } from '../../state/recordings.ts';
import { openView } from '../../state/routes.ts';
import { formatBytes, formatCount, formatDateTime, formatDuration, plural } from '../../ui/format.ts';
import type { FiledMessage } from './message-record.ts';
import { useTransfer } from './transfer-store.ts';

interface FoundMessagesProps {
  readonly messages: readonly FiledMessage[];
  readonly close: () => void;
}

/** Messages of a file: how many, of when, and a button that shows them as if a connection had received them. */
export function FoundMessages({ messages, close }: FoundMessagesProps) {
  const name = useTransfer(({ file }) => file?.name ?? '');
  const { topics, bytes } = useMemo(() => measure(messages), [messages]);
  const [first, last] = [messages[0]?.atMs, messages.at(-1)?.atMs];
  const open = (): void => {
    close();
    openRecording(name, messages);
    openView('messages');
  };
  return (
    <>
      <Text size="sm">
        {`${formatCount(messages.length)} ${plural(messages.length, 'message', 'messages')} in ${formatCount(topics)} topics, ${formatBytes(bytes)} of payload`}
      </Text>
      {first !== undefined && last !== undefined && (
        <Text size="xs" c="dimmed">
          {`From ${formatDateTime(first)} to ${formatDateTime(last)}, ${formatDuration(last - first)}.`}
        </Text>
      )}
      <Group gap="xs" mt="xs">
        <Button leftSection={<IconFileText size={14} stroke={1.5} />} onClick={open}>
          Open to read
        </Button>
        <Text size="xs" c="dimmed" flex={1} miw={180}>
          In Messages, Topics and Charts, as if they had just been received. Nothing is sent.
        </Text>
      </Group>
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
