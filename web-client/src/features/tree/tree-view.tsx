import { Center, EmptyState, Group, Tabs, Text, TextInput, Tooltip } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconBinaryTree2, IconFold, IconFolderOpen, IconSearch, IconTrash } from '@tabler/icons-react';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import type { ConnectionProfile, LiveConnection } from '../../engine/types.ts';
import { useActiveConnection, useActiveProfile, useStatus } from '../../state/hooks.ts';
import { useStore } from '../../state/store.ts';
import { BottomDrawer } from '../../ui/bottom-drawer.tsx';
import { formatBytes, formatCount, formatExact, plural } from '../../ui/format.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { provideShortcut } from '../../ui/shortcut-actions.ts';
import { EmptyConnection } from '../connections/empty-connection.tsx';
import { Presence } from '../presence/presence.tsx';
import { SubscribeAll } from '../subscriptions/subscribe-all.tsx';
import { VALUE_BYTES_MAX } from './limits.ts';
import { TopicDetails } from './topic-details.tsx';
import { TopicLines } from './topic-lines.tsx';
import type { TopicTree } from './topic-tree.ts';
import { topicTreeOf } from './topic-trees.ts';
import classes from './tree-view.module.css';

const ICON = { size: 16, stroke: 1.5 } as const;

/** The topics of a connection as a tree with the last value of the selected one; and who is in its rooms. */
export function TreeView() {
  const connection = useActiveConnection();
  const profile = useActiveProfile();
  const tab = useStore(({ topicsTab }) => topicsTab);
  if (connection === undefined || profile === undefined) return <EmptyConnection />;
  return (
    <Tabs
      value={tab}
      onChange={(chosen) => useStore.setState({ topicsTab: chosen === 'presence' ? chosen : 'topics' })}
      className={classes.tabs}
    >
      <Tabs.List px="xs">
        <Tabs.Tab value="topics">Topics</Tabs.Tab>
        <Tabs.Tab value="presence">Presence</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="topics" className={classes.panel}>
        <Topics key={profile.id} connection={connection} profile={profile} tree={topicTreeOf(profile.id)} />
      </Tabs.Panel>
      <Tabs.Panel value="presence" className={classes.panel}>
        <Presence key={profile.id} profile={profile} />
      </Tabs.Panel>
    </Tabs>
  );
}

interface TopicsProps {
  readonly connection: LiveConnection;
  readonly profile: ConnectionProfile;
  readonly tree: TopicTree;
}

function Topics({ connection, profile, tree }: TopicsProps) {
  useSyncExternalStore(tree.subscribe, () => tree.version);
  const isNarrow = useMediaQuery('(max-width: 62em)');
  const { selected, rows } = tree;
  const close = (): void => tree.select(undefined, connection.messages);
  const details = selected && (
    <TopicDetails
      key={selected.path}
      connection={connection}
      profile={profile}
      tree={tree}
      node={selected}
      close={close}
    />
  );
  return (
    <section className={classes.view} aria-label="Topics">
      <Toolbar tree={tree} />
      <NotShown tree={tree} />
      <div className={classes.body}>
        {rows.length === 0 ? (
          <Nothing profile={profile} tree={tree} />
        ) : (
          <TopicLines tree={tree} rows={rows} log={connection.messages} />
        )}
        {!isNarrow && (
          <aside className={classes.details}>
            {details ?? (
              <Text size="xs" c="dimmed" p="md">
                Select a topic to see its last value.
              </Text>
            )}
          </aside>
        )}
        {isNarrow && details !== undefined && (
          <BottomDrawer label="Topic" onClose={close}>
            {details}
          </BottomDrawer>
        )}
      </div>
    </section>
  );
}

function Toolbar({ tree }: { readonly tree: TopicTree }) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => provideShortcut('filter', () => input.current?.focus()), []);
  const { index, search } = tree;
  const total = formatExact(index.topicCount);
  const count =
    search === undefined
      ? plural(index.topicCount, `${total} topic`, `${total} topics`)
      : `${formatExact(search.topics)} of ${total} topics`;
  const limit = `At most ${formatCount(index.limits.topicsMax)} topics are kept, with the first ${formatBytes(VALUE_BYTES_MAX)} of each last value.`;
  return (
    <div className={classes.toolbar}>
      <TextInput
        ref={input}
        className={classes.search}
        type="search"
        aria-label="Search the topics"
        placeholder="Text, or a filter with + and #"
        leftSection={<IconSearch size={15} stroke={1.5} />}
        spellCheck={false}
        value={tree.query}
        onChange={(event) => tree.setQuery(event.currentTarget.value)}
      />
      <Tooltip label={limit} multiline maw={280}>
        <Text size="xs" c="dimmed" className={classes.count} role="status" data-testid="topic-count">
          {count}
        </Text>
      </Tooltip>
      <Group gap={2} wrap="nowrap" ml="auto">
        <IconButton label="Open all" onClick={() => tree.openAll(true)}>
          <IconFolderOpen {...ICON} />
        </IconButton>
        <IconButton label="Close all" onClick={() => tree.openAll(false)}>
          <IconFold {...ICON} />
        </IconButton>
        <IconButton label="Empty the tree" onClick={() => tree.clear()}>
          <IconTrash {...ICON} />
        </IconButton>
      </Group>
    </div>
  );
}

/** Says that the limits exclude topics. */
function NotShown({ tree }: { readonly tree: TopicTree }) {
  const { messagesMissed: count } = tree.index;
  if (count === 0) return null;
  return (
    <Text size="xs" c="var(--mantine-color-error)" className={classes.notShown} role="status">
      {`The tree is full: ${formatCount(count)} ${plural(count, 'message of another topic is', 'messages of other topics are')} in Messages alone.`}
    </Text>
  );
}

function Nothing({ profile, tree }: Pick<TopicsProps, 'profile' | 'tree'>) {
  const { phase } = useStatus(profile.id);
  const isFound = tree.query === '' || tree.index.topicCount === 0;
  return (
    <Center p="md">
      {isFound ? (
        <EmptyState
          size="sm"
          icon={<IconBinaryTree2 stroke={1.5} />}
          title="No topic yet"
          description={
            phase === 'connected'
              ? 'A topic appears when a message for it comes. Subscribe to # to see them all.'
              : 'Connect first: the button is at the top.'
          }
        >
          <SubscribeAll profile={profile} />
        </EmptyState>
      ) : (
        <EmptyState size="sm" icon={<IconSearch stroke={1.5} />} title="No topic fits the search" />
      )}
    </Center>
  );
}
