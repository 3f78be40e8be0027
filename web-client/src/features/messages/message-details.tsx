import { Badge, Group, ScrollArea, Tabs, Text } from '@mantine/core';
import { IconArrowBack, IconEdit, IconFilter, IconX } from '@tabler/icons-react';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { ConnectionProfile, LoggedMessage } from '../../engine/types.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { formatBytes, formatTime } from '../../ui/format.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { PacketInspector } from '../../ui/packet-inspector.tsx';
import { answerTo, editMessage } from '../publish/publish-store.ts';
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
  const { t } = useTranslation();
  const { topic } = message;
  const packet = useMemo(() => message.packet, [message]);
  return (
    <div className={classes.details}>
      <Group gap={2} wrap="nowrap" className={classes.head}>
        <Text size="sm" fw={600} className={classes.topic} title={topic}>
          {topic}
        </Text>
        <CopyButton text={topic} label={t('messages.details.copyTopic')} />
        <IconButton
          label={t('messages.details.filterTopic')}
          onClick={() => setFilter(profile.id, { topic })}
        >
          <IconFilter {...ICON} />
        </IconButton>
        <IconButton
          label={t('messages.details.publishAgain')}
          onClick={() => editMessage(profile.id, message)}
        >
          <IconEdit {...ICON} />
        </IconButton>
        {message.properties.responseTopic !== undefined && message.direction === 'received' && (
          <IconButton label={t('messages.details.reply')} onClick={() => answerTo(profile.id, message)}>
            <IconArrowBack {...ICON} />
          </IconButton>
        )}
        <IconButton label={t('messages.details.close')} onClick={close}>
          <IconX {...ICON} />
        </IconButton>
      </Group>
      <Group gap={6} px={10} pb={6}>
        <Badge variant="default">{t(`messages.${message.direction}`)}</Badge>
        <Badge variant="default">{`QoS ${message.qos}`}</Badge>
        {message.retain && <Badge color="grape.9">{t('messages.retain')}</Badge>}
        {message.dup && <Badge color="orange.9">{t('messages.dup')}</Badge>}
        <Text size="xs" c="dimmed">
          {`${formatTime(message.atMs)} · ${formatBytes(message.payloadLength)}`}
        </Text>
      </Group>
      <Tabs defaultValue="payload" className={classes.tabs}>
        <Tabs.List className={classes.tabList}>
          <Tabs.Tab value="payload">{t('messages.details.payload')}</Tabs.Tab>
          <Tabs.Tab value="properties">{t('messages.details.properties')}</Tabs.Tab>
          <Tabs.Tab value="packet">{t('messages.details.packet')}</Tabs.Tab>
        </Tabs.List>
        <ScrollArea className={classes.body} type="auto" viewportProps={{ tabIndex: 0 }}>
          <Tabs.Panel value="payload">
            <pre className={classes.payload}>{message.text(20_000)}</pre>
          </Tabs.Panel>
          <Tabs.Panel value="properties">
            <MessageProperties profile={profile} message={message} />
          </Tabs.Panel>
          <Tabs.Panel value="packet">
            <PacketInspector bytes={packet} protocolVersion={profile.protocolVersion} />
          </Tabs.Panel>
        </ScrollArea>
      </Tabs>
    </div>
  );
}
