import { Badge, Button, Group, Menu, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import {
  IconChartLine,
  IconDotsVertical,
  IconEraser,
  IconList,
  IconRss,
  IconSend2,
} from '@tabler/icons-react';
import { useState } from 'react';
import { newSubscription } from '../../engine/new-profile.ts';
import type { ConnectionProfile, LiveConnection } from '../../engine/types.ts';
import { setSubscriptions } from '../../state/profiles.ts';
import { openView } from '../../state/routes.ts';
import { CloseDetails } from '../../ui/close-details.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { formatBytes, formatCount, formatTime, plural } from '../../ui/format.ts';
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
import { ValueHistory } from './value-history.tsx';

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
        <CopyButton text={path} label="Copy the topic" />
        <IconButton
          label="Publish to this topic"
          onClick={() => {
            setDraft(profile.id, { topic: path });
            openView('messages');
          }}
        >
          <IconSend2 {...ICON} />
        </IconButton>
        <TopicMenu profile={profile} node={node} />
        <CloseDetails close={close} />
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
          Clear retained messages …
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
      {isRetained && <Badge color="grape.9">retained</Badge>}
      {others > 0 && <Badge variant="default">{`${formatCount(others)} retained below`}</Badge>}
      <Text size="xs" c="dimmed">
        {[
          plural(counted, `${formatCount(counted)} message`, `${formatCount(counted)} messages`),
          ...(node.childCount > 0
            ? [plural(topicsBelow, `${formatCount(topicsBelow)} topic`, `${formatCount(topicsBelow)} topics`)]
            : []),
          ...(lastAtMs > 0 ? [`last at ${formatTime(lastAtMs)}`] : []),
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
  if (topic === undefined) {
    return (
      <Text size="xs" c="dimmed" p={10}>
        No message came for exactly this topic; topics below it have had some.
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
  const isGone = message === undefined && kept.length < node.lastLength;
  return (
    <>
      {history.length > 1 && (
        <ValueHistory
          messages={history}
          shown={shown}
          isFollowing={pinned === undefined}
          onShow={(index) => setPinned(history[index]?.sequence)}
          onFollow={() => setPinned(pinned === undefined ? history[last]?.sequence : undefined)}
        />
      )}
      {isGone && (
        <Text size="xs" c="dimmed" px={10} pb={6}>
          {`The message is no longer in the log; of its ${formatBytes(node.lastLength)} the first ${formatBytes(kept.length)} are kept.`}
        </Text>
      )}
      <PayloadView
        topic={topic}
        payload={message?.payload ?? kept}
        contentType={message?.properties.contentType}
        previous={history[shown - 1]?.payload}
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
        <IconButton label="More">
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
          Show its messages
        </Menu.Item>
        <Menu.Item leftSection={<IconRss {...ICON} />} disabled={isSubscribed} onClick={subscribe}>
          {`Subscribe to ${filter}`}
        </Menu.Item>
        <Menu.Item
          leftSection={<IconChartLine {...ICON} />}
          onClick={() => chartThis(profile.id, filter, { kind: 'latency' })}
        >
          Chart its latency
        </Menu.Item>
        <Menu.Item
          leftSection={<IconChartLine {...ICON} />}
          onClick={() => chartThis(profile.id, filter, { kind: 'missing' })}
        >
          Chart its missing messages
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
