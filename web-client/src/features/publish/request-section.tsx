import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { IconSend } from '@tabler/icons-react';
import { useState } from 'react';
import type { ConnectionProfile } from '../../engine/types.ts';
import type { Draft } from '../../state/draft.ts';
import { useStatus } from '../../state/hooks.ts';
import { formatDuration } from '../../ui/format.ts';
import { OptionalNumberInput } from '../../ui/optional-number-input.tsx';
import { troubleWords } from '../../ui/trouble.ts';
import { visibleText } from '../../ui/visible-text.ts';
import classes from './request-section.module.css';
import { newResponseTopic, type RequestRecord, useRequests } from './use-requests.ts';

const TIMEOUT_SECONDS = 10;

interface RequestSectionProps {
  readonly profile: ConnectionProfile;
  readonly draft: Draft;
}

/** Publishes the message as a request and waits for its answer (4.10). */
export function RequestSection({ profile, draft }: RequestSectionProps) {
  const { phase, session } = useStatus(profile.id);
  const [topic, setTopic] = useState(() => newResponseTopic(session?.responseInformation));
  const [timeoutSeconds, setTimeoutSeconds] = useState(TIMEOUT_SECONDS);
  const { requests, send } = useRequests(profile);
  const isVersion5 = profile.protocolVersion === 5;
  return (
    <Stack gap="xs">
      <Text size="xs" c="dimmed">
        {isVersion5
          ? 'Publishes the message with a response topic and correlation data, subscribes to that topic, and waits for the answer.'
          : 'Needs MQTT 5.0'}
      </Text>
      <Group gap="xs" align="flex-end" wrap="nowrap">
        <TextInput
          flex={1}
          label="Response topic"
          spellCheck={false}
          disabled={!isVersion5}
          value={topic}
          onChange={(event) => setTopic(event.currentTarget.value)}
        />
        <OptionalNumberInput
          w={84}
          label="Wait at most"
          suffix=" s"
          min={1}
          max={600}
          disabled={!isVersion5}
          value={timeoutSeconds}
          onChange={(entered) => setTimeoutSeconds(entered ?? TIMEOUT_SECONDS)}
        />
        <Button
          flex="none"
          leftSection={<IconSend size={16} stroke={1.5} />}
          disabled={!isVersion5 || phase !== 'connected' || topic === ''}
          onClick={() => void send(draft, topic, timeoutSeconds * 1_000)}
        >
          Ask
        </Button>
      </Group>
      {requests.length > 0 && (
        <ul className={classes.list} aria-label="Requests, newest first">
          {requests.map((record) => (
            <RequestLine key={record.id} record={record} />
          ))}
        </ul>
      )}
    </Stack>
  );
}

function RequestLine({ record }: { readonly record: RequestRecord }) {
  const { state } = record;
  return (
    <li className={classes.item} data-state={state.type}>
      <Text size="xs" fw={600} truncate>
        {visibleText(record.topic)}
      </Text>
      {state.type === 'pending' && <Text size="xs">Waiting for the answer …</Text>}
      {state.type === 'failed' && <Text size="xs">{`Not sent: ${troubleWords(state.trouble).title}`}</Text>}
      {state.type === 'timed-out' && (
        <Text size="xs">{`No answer within ${formatDuration(state.afterMs)}`}</Text>
      )}
      {state.type === 'answered' && (
        <>
          <Text size="xs">{`Answered in ${formatDuration(state.afterMs)}`}</Text>
          <Text size="xs" ff="monospace" lineClamp={3}>
            {state.reply.text(300)}
          </Text>
        </>
      )}
    </li>
  );
}
