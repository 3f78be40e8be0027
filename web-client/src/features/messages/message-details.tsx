import { Badge, Group, ScrollArea, Tabs, Text } from '@mantine/core';
import { IconArrowBack, IconEdit, IconFilter } from '@tabler/icons-react';
import { useMemo, useSyncExternalStore } from 'react';
import type { ConnectionProfile, LoggedMessage } from '../../engine/types.ts';
import { connections } from '../../state/connections.ts';
import { useConnection } from '../../state/hooks.ts';
import { isRecording } from '../../state/recording-ids.ts';
import { AfterPaint } from '../../ui/after-paint.tsx';
import { CloseDetails } from '../../ui/close-details.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { formatBytes, formatTime } from '../../ui/format.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { PacketInspector } from '../../ui/packet-inspector.tsx';
import { TopicHeading } from '../../ui/topic-heading.tsx';
import { useChartThis } from '../charts/use-chart-this.ts';
import { PayloadView } from '../decode/payload-view.tsx';
import { previousMessage } from '../decode/previous-message.ts';
import { answerTo, editMessage } from '../publish/publish-store.ts';
import { fateWords } from './fate.ts';
import classes from './message-details.module.css';
import { MessageProperties } from './message-properties.tsx';
import { setFilter } from './messages-store.ts';

const ICON = { size: 16, stroke: 1.5 } as const;

interface MessageDetailsProps {
  readonly profile: ConnectionProfile;
  readonly message: LoggedMessage;
  readonly close: () => void;
}

/** One message: its payload decoded, its properties, and its packet byte by byte. */
export function MessageDetails({ profile, message, close }: MessageDetailsProps) {
  const { topic } = message;
  const canAnswer =
    message.properties.responseTopic !== undefined &&
    message.direction === 'received' &&
    !isRecording(profile.id);
  const packet = useMemo(() => message.packet, [message]);
  return (
    <div className={classes.details}>
      <Group gap={2} wrap="nowrap" className={classes.head}>
        <TopicHeading topic={topic} className={classes.topic} />
        <CopyButton text={topic} label="Copy the topic" />
        <IconButton label="Show only this topic" onClick={() => setFilter(profile.id, { topic })}>
          <IconFilter {...ICON} />
        </IconButton>
        {!isRecording(profile.id) && (
          <IconButton label="Put it into the publish panel" onClick={() => editMessage(profile.id, message)}>
            <IconEdit {...ICON} />
          </IconButton>
        )}
        {canAnswer && (
          <IconButton label="Answer to its response topic" onClick={() => answerTo(profile.id, message)}>
            <IconArrowBack {...ICON} />
          </IconButton>
        )}
        <CloseDetails close={close} />
      </Group>
      <Group gap={6} px={10} pb={6}>
        <Badge variant="default">{message.direction === 'received' ? 'received' : 'published'}</Badge>
        <Badge variant="default">{`QoS ${message.qos}`}</Badge>
        {message.fate !== undefined && <Fate message={message} />}
        {message.retain && <Badge color="grape.9">retained</Badge>}
        {message.dup && <Badge color="orange.9">duplicate</Badge>}
        <Text size="xs" c="dimmed">
          {`${formatTime(message.atMs)} · ${formatBytes(message.payloadLength)}`}
        </Text>
      </Group>
      <Tabs defaultValue="payload" className={classes.tabs}>
        <Tabs.List className={classes.tabList}>
          <Tabs.Tab value="payload">Payload</Tabs.Tab>
          <Tabs.Tab value="properties">Properties</Tabs.Tab>
          {/* A recording holds messages without their packets. */}
          {!isRecording(profile.id) && <Tabs.Tab value="packet">Packet</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="payload" className={classes.body}>
          <AfterPaint>
            <Payload message={message} />
          </AfterPaint>
        </Tabs.Panel>
        <Tabs.Panel value="properties" className={classes.body}>
          <ScrollArea h="100%" type="auto" viewportProps={{ tabIndex: 0 }}>
            <MessageProperties profile={profile} message={message} />
          </ScrollArea>
        </Tabs.Panel>
        <Tabs.Panel value="packet" className={classes.body}>
          <ScrollArea h="100%" type="auto" viewportProps={{ tabIndex: 0 }}>
            <PacketInspector bytes={packet} protocolVersion={profile.protocolVersion} />
          </ScrollArea>
        </Tabs.Panel>
      </Tabs>
    </div>
  );
}

/** It changes while the message is shown. */
function Fate({ message }: { readonly message: LoggedMessage }) {
  const log = connections.get(message.connectionId).messages;
  const fate = useSyncExternalStore(
    (changed) => log.onFrame(changed),
    () => message.fate,
  );
  if (fate === undefined) return null;
  const isBad = fate.state === 'refused' || fate.state === 'lost' || fate.state === 'unknown';
  return (
    <Text size="xs" c={isBad ? 'var(--mantine-color-error)' : 'dimmed'}>
      {fateWords(fate, message.qos).long}
    </Text>
  );
}

function Payload({ message }: { readonly message: LoggedMessage }) {
  const chartThis = useChartThis();
  const { connectionId, topic } = message;
  const log = useConnection(connectionId).messages;
  const [payload, previous] = useMemo(
    () => [message.payload, previousMessage(log, message)?.payload],
    [message, log],
  );
  return (
    <PayloadView
      topic={topic}
      payload={payload}
      contentType={message.properties.contentType}
      previous={previous}
      onChart={(path) => chartThis(connectionId, topic, { kind: 'value', path })}
    />
  );
}
