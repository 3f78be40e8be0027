import type { LoggedMessage } from '../../engine/types.ts';
import { LEVELS_MAX, NODES_MAX, TOPICS_MAX } from './limits.ts';
import { TopicNode } from './topic-node.ts';
import { ValueSlab } from './value-slab.ts';

export interface TopicIndexLimits {
  readonly topicsMax: number;
  readonly nodesMax: number;
}

/**
 * The topics of a connection as a tree, kept up to date message by message: last values, counts and retained
 * messages. The cost of adding grows with the topic's levels, not with the tree.
 */
export class TopicIndex {
  readonly limits: TopicIndexLimits;
  readonly #byTopic = new Map<string, TopicNode>();
  readonly #values = new ValueSlab();
  #root = new TopicNode('', undefined);
  #nodes = 0;
  #messagesMissed = 0;
  #structureVersion = 0;

  constructor(limits: TopicIndexLimits = { topicsMax: TOPICS_MAX, nodesMax: NODES_MAX }) {
    this.limits = limits;
  }

  get root(): TopicNode {
    return this.#root;
  }

  get topicCount(): number {
    return this.#byTopic.size;
  }

  get nodeCount(): number {
    return this.#nodes;
  }

  get valueBytes(): number {
    return this.#values.byteLength;
  }

  /** Changes whenever a node is added or removed. */
  get structureVersion(): number {
    return this.#structureVersion;
  }

  /** Messages of topics that the limits have excluded from the tree. */
  get messagesMissed(): number {
    return this.#messagesMissed;
  }

  add(messages: readonly LoggedMessage[]): void {
    for (const message of messages) {
      if (message.direction === 'received') this.#received(message);
      else this.#published(message);
    }
  }

  get(topic: string): TopicNode | undefined {
    return this.#byTopic.get(topic);
  }

  topics(): IterableIterator<TopicNode> {
    return this.#byTopic.values();
  }

  /** The beginning of the last payload, at most `VALUE_BYTES_MAX` bytes. */
  valueOf(node: TopicNode): Uint8Array {
    return node.slot < 0 ? new Uint8Array(0) : this.#values.read(node.slot, node.lastLength);
  }

  clear(): void {
    this.#root = new TopicNode('', undefined);
    this.#byTopic.clear();
    this.#values.clear();
    this.#nodes = 0;
    this.#messagesMissed = 0;
    this.#structureVersion += 1;
  }

  #received(message: LoggedMessage): void {
    const node = this.#byTopic.get(message.topic) ?? this.#insert(message.topic);
    if (node === undefined) {
      this.#messagesMissed += 1;
      return;
    }
    node.messages += 1;
    node.lastAtMs = message.atMs;
    node.lastLength = message.payloadLength;
    this.#values.write(node.slot, message.payload);
    for (let up: TopicNode | undefined = node; up !== undefined; up = up.parent) {
      up.messagesBelow += 1;
      up.lastAtMsBelow = message.atMs;
    }
    // A message without RETAIN says nothing about the retained message, unless it is empty: an empty message deletes
    // it.
    if (message.retain || message.payloadLength === 0) {
      setRetained(node, message.retain && message.payloadLength > 0);
    }
  }

  /** A message that was published here and did not come back only changes the retained message. */
  #published(message: LoggedMessage): void {
    const node = message.retain ? this.#byTopic.get(message.topic) : undefined;
    if (node !== undefined) setRetained(node, message.payloadLength > 0);
  }

  #insert(topic: string): TopicNode | undefined {
    if (this.#byTopic.size >= this.limits.topicsMax) return undefined;
    const names = levelsOf(topic);
    let deepest = this.#root;
    let known = 0;
    for (
      let next = deepest.child(names[0] ?? '');
      next !== undefined;
      next = deepest.child(names[known] ?? '')
    ) {
      deepest = next;
      known += 1;
      if (known === names.length) break;
    }
    if (this.#nodes + names.length - known > this.limits.nodesMax) return undefined;
    for (const name of names.slice(known)) {
      deepest = deepest.addChild(name);
      this.#nodes += 1;
    }
    deepest.topic = topic;
    deepest.slot = this.#values.allocate();
    this.#byTopic.set(topic, deepest);
    for (let up: TopicNode | undefined = deepest; up !== undefined; up = up.parent) up.topicsBelow += 1;
    this.#structureVersion += 1;
    return deepest;
  }
}

function levelsOf(topic: string): string[] {
  const names = topic.split('/');
  if (names.length > LEVELS_MAX) names.push(names.splice(LEVELS_MAX - 1).join('/'));
  return names;
}

function setRetained(node: TopicNode, isRetained: boolean): void {
  if (node.isRetained === isRetained) return;
  node.isRetained = isRetained;
  const change = isRetained ? 1 : -1;
  for (let up: TopicNode | undefined = node; up !== undefined; up = up.parent) up.retainedBelow += change;
}
