import { expect, test } from 'vitest';
import { BoundedMessageLog } from '../../../src/engine/log/message-log.ts';
import { OPEN_TOPICS_MAX } from '../../../src/features/tree/limits.ts';
import { TopicTree } from '../../../src/features/tree/topic-tree.ts';
import { messageFields } from '../message.ts';

/** A tree that has seen a message of each of these topics. */
function treeOf(...topics: readonly string[]) {
  const log = new BoundedMessageLog({ messagesMax: 1_000, bytesMax: 1_000_000 });
  const tree = new TopicTree(() => 0);
  log.onAppend((messages) => tree.take(messages));
  const tell = (...more: readonly string[]) => log.append(more.map((topic) => messageFields(topic, 'x')));
  tell(...topics);
  const shown = (): readonly (string | undefined)[] => {
    const { rows } = tree;
    return Array.from({ length: rows.length }, (_, index) => rows.at(index)?.node.name);
  };
  return { tree, tell, shown };
}

test('a small tree is open, and so are levels that come later', () => {
  const { tree, tell, shown } = treeOf('home/kitchen/oven');
  expect(shown()).toEqual(['home', 'kitchen', 'oven']);
  tell('home/hall/light');
  tree.toggle(tree.index.root, true);
  expect(shown()).toEqual(['home', 'hall', 'light', 'kitchen', 'oven']);
});

test('a level that its user has closed stays closed', () => {
  const { tree, tell, shown } = treeOf('home/kitchen/oven');
  const home = tree.index.root.child('home');
  if (home !== undefined) tree.toggle(home, false);
  tell('home/hall/light');
  tree.openAll(false);
  expect(shown()).toEqual(['home']);
});

test('the levels of a large tree are closed', () => {
  const { shown } = treeOf(...Array.from({ length: OPEN_TOPICS_MAX + 1 }, (_, n) => `plant/${n}`));
  expect(shown()).toEqual(['plant']);
});
