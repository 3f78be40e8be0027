import { connections } from '../../state/connections.ts';
import { useStore } from '../../state/store.ts';
import { TopicTree } from './topic-tree.ts';

interface Followed {
  readonly tree: TopicTree;
  readonly stop: () => void;
}

const trees = new Map<string, Followed>();

/** The tree of a connection. It begins when the connection does, so that no retained message is missed. */
export function topicTreeOf(connectionId: string): TopicTree {
  const known = trees.get(connectionId);
  if (known !== undefined) return known.tree;
  const { messages: log } = connections.get(connectionId);
  const tree = new TopicTree();
  const stop = log.onAppend((messages) => tree.take(messages));
  trees.set(connectionId, { tree, stop });
  return tree;
}

/** Follows the topics of every connection, now and later. */
export function followTopics(): void {
  useStore.subscribe(({ profiles }) => {
    for (const { id } of profiles) topicTreeOf(id);
    for (const [id, { stop }] of trees) {
      if (profiles.some((profile) => profile.id === id)) continue;
      stop();
      trees.delete(id);
    }
  });
}
