import { Badge, Button, Group, Menu, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import {
  IconChartLine,
  IconDotsVertical,
  IconEraser,
  IconList,
  IconRss,
  IconSend2,
  IconX,
} from '@tabler/icons-react';
import { useState } from 'react';
import { newSubscription } from '../../engine/new-profile.ts';
import type { ConnectionProfile, LiveConnection } from '../../engine/types.ts';
import { t } from '../../i18n/index.ts';
import { setSubscriptions } from '../../state/profiles.ts';
import { openView } from '../../state/routes.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { formatBytes, formatCount, formatTime } from '../../ui/format.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { TopicHeading } from '../../ui/topic-heading.tsx';
import { useChartThis } from '../charts/use-chart-this.ts';
import { PayloadView } from '../decode/payload-view.tsx';
import { setFilter } from '../messages/messages-store.ts';
import { setDraft } from '../publish/publish-store.ts';
import { ClearDialog } from './clear-dialog.tsx';
import type { TopicNode } from './topic-node.ts';
import type { TopicTree } from './topic-tree.ts';
import classes from './tree-view.module.css';
import { type Comparison, ValueHistory } from './value-history.tsx';

const ICON = { size: 16, stroke: 1.5 } as const;

interface TopicDetailsProps {
  readonly connection: LiveConnection;
  readonly profile: ConnectionProfile;
  readonly tree: TopicTree;
  readonly node: TopicNode;
  readonly close: () => void;
}

/** The details of one topic: its facts, its last value as it changes, and its actions. */
export function TopicDetails({ connection, profile, tree, node, close }: TopicDetailsProps) {
  const [isClearing, clearing] = useDisclosure();
  const { path } = node;
  return (
    <div className={classes.topic}>
      <Group gap={2} wrap="nowrap" className={classes.topicHead}>
        <TopicHeading topic={path} className={classes.topicName} />
        <CopyButton text={path} label={t('tree.copyTopic')} />
        <IconButton
          label={t('tree.publishHere')}
          onClick={() => {
            setDraft(profile.id, { topic: path });
            openView('messages');
          }}
        >
          <IconSend2 {...ICON} />
        </IconButton>
        <TopicMenu profile={profile} node={node} />
        <IconButton label={t('tree.close')} onClick={close}>
          <IconX {...ICON} />
        </IconButton>
      </Group>
      <Facts node={node} />
      <div className={classes.payload}>
        <Value profile={profile} tree={tree} node={node} />
      </div>
      <div className={classes.topicFoot}>
        <Button
          variant="default"
          color="red"
          size="compact-xs"
          leftSection={<IconEraser size={14} stroke={1.5} />}
          onClick={clearing.open}
        >
          {t('tree.clearRetained')}
        </Button>
      </div>
      {isClearing && <ClearDialog connection={connection} node={node} close={clearing.close} />}
    </div>
  );
}

function Facts({ node }: { readonly node: TopicNode }) {
  const { messages, messagesBelow, topicsBelow, retainedBelow, isRetained, lastAtMs } = node;
  const others = retainedBelow - (isRetained ? 1 : 0);
  const counted = node.topic === undefined ? messagesBelow : messages;
  return (
    <Group gap={6} px={10} pb={6}>
      {isRetained && <Badge color="grape.9">{t('tree.retained')}</Badge>}
      {others > 0 && (
        <Badge variant="default">
          {t('tree.retainedBelow', { count: others, shown: formatCount(others) })}
        </Badge>
      )}
      <Text size="xs" c="dimmed">
        {[
          t('tree.messages', { count: counted, shown: formatCount(counted) }),
          ...(node.childCount > 0
            ? [t('tree.topicsBelow', { count: topicsBelow, shown: formatCount(topicsBelow) })]
            : []),
          ...(lastAtMs > 0 ? [t('tree.lastAt', { time: formatTime(lastAtMs) })] : []),
        ].join(' · ')}
      </Text>
    </Group>
  );
}

function Value({ profile, tree, node }: Pick<TopicDetailsProps, 'profile' | 'tree' | 'node'>) {
  const chartThis = useChartThis();
  const { topic } = node;
  // By its sequence number: its index changes with every message.
  const [pinned, setPinned] = useState<number>();
  const [comparison, setComparison] = useState<Comparison>('before');
  if (topic === undefined) {
    return (
      <Text size="xs" c="dimmed" p={10}>
        {t('tree.noValue')}
      </Text>
    );
  }
  const { history } = tree;
  const kept = tree.index.valueOf(node);
  const last = history.length - 1;
  // If the log has dropped the value meanwhile, the oldest available one is shown.
  const found = pinned === undefined ? last : history.findIndex(({ sequence }) => sequence >= pinned);
  const shown = found === -1 ? last : found;
  const message = history[shown];
  const compared = history[comparison === 'last' ? last : shown - 1];
  const isGone = message === undefined && kept.length < node.lastLength;
  return (
    <>
      {history.length > 1 && (
        <ValueHistory
          messages={history}
          shown={shown}
          isFollowing={pinned === undefined}
          comparison={comparison}
          onShow={(index) => setPinned(history[index]?.sequence)}
          onFollow={() => setPinned(pinned === undefined ? history[last]?.sequence : undefined)}
          onCompare={setComparison}
        />
      )}
      {isGone && (
        <Text size="xs" c="dimmed" px={10} pb={6}>
          {t('tree.gone', { length: formatBytes(node.lastLength), kept: formatBytes(kept.length) })}
        </Text>
      )}
      <PayloadView
        topic={topic}
        payload={message?.payload ?? kept}
        contentType={message?.properties.contentType}
        previous={compared?.payload}
        onChart={(path) => chartThis(profile.id, topic, { kind: 'value', path })}
      />
    </>
  );
}

/** The menu of the rarer actions. */
function TopicMenu({ profile, node }: { readonly profile: ConnectionProfile; readonly node: TopicNode }) {
  const chartThis = useChartThis();
  const { path } = node;
  const filter = node.childCount > 0 ? `${path}/#` : path;
  const isSubscribed = profile.subscriptions.some((subscription) => subscription.filter === filter);
  const subscribe = (): void => {
    const added = newSubscription(filter, profile.subscriptions.length);
    void setSubscriptions(profile.id, [...profile.subscriptions, added]);
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <IconButton label={t('tree.more')}>
          <IconDotsVertical {...ICON} />
        </IconButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          leftSection={<IconList {...ICON} />}
          onClick={() => {
            setFilter(profile.id, { topic: filter });
            openView('messages');
          }}
        >
          {t('tree.showMessages')}
        </Menu.Item>
        <Menu.Item leftSection={<IconRss {...ICON} />} disabled={isSubscribed} onClick={subscribe}>
          {t('tree.subscribeHere', { filter })}
        </Menu.Item>
        <Menu.Item
          leftSection={<IconChartLine {...ICON} />}
          onClick={() => chartThis(profile.id, filter, { kind: 'latency' })}
        >
          {t('tree.chartLatency')}
        </Menu.Item>
        <Menu.Item
          leftSection={<IconChartLine {...ICON} />}
          onClick={() => chartThis(profile.id, filter, { kind: 'missing' })}
        >
          {t('tree.chartMissing')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
