import type { LoggedMessage, MessageLog } from '../../engine/types.ts';
import { OPEN_TOPICS_MAX, REDRAW_INTERVAL_MS, SEARCH_INTERVAL_MS } from './limits.ts';
import { OpenState } from './open-nodes.ts';
import { type SearchResult, searchTopics } from './search.ts';
import { TopicHistory } from './topic-history.ts';
import { TopicIndex } from './topic-index.ts';
import type { TopicNode } from './topic-node.ts';
import { TreeRows } from './tree-rows.ts';

const NONE: readonly LoggedMessage[] = [];

/** The share of time for recomputing results: the rest is for rendering and for the user. */
const SHARE_OF_TIME = 0.1;

/** Computes a result on demand, and again only after a pause in proportion to the time that it took. */
class Paced<T> {
  readonly #work: () => T;
  readonly #intervalMs: number;
  readonly #now: () => number;
  #key = '';
  #value: T | undefined;
  #nextAtMs = 0;
  #isBehind = false;

  constructor(intervalMs: number, now: () => number, work: () => T) {
    this.#intervalMs = intervalMs;
    this.#now = now;
    this.#work = work;
  }

  /** Whether the last result is outdated. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** @param isUrgent whether the user has asked for it: then it is not delayed */
  get(key: string, isUrgent: boolean): T {
    if (this.#value !== undefined && key === this.#key) return this.#value;
    const startedAtMs = this.#now();
    this.#isBehind = this.#value !== undefined && !isUrgent && startedAtMs < this.#nextAtMs;
    if (this.#value !== undefined && this.#isBehind) return this.#value;
    const value = this.#work();
    const endedAtMs = this.#now();
    this.#nextAtMs = endedAtMs + Math.max(this.#intervalMs, (endedAtMs - startedAtMs) / SHARE_OF_TIME);
    this.#key = key;
    this.#value = value;
    return value;
  }
}

/** The tree of a connection, with the state that its view keeps while another one is open. */
export class TopicTree {
  readonly index = new TopicIndex();
  #open = new OpenState();
  #query = '';
  #selected: TopicNode | undefined;
  #history: TopicHistory | undefined;
  #version = 0;
  #urgent = true;
  /** The structure of the index whose new nodes have been opened. */
  #openedVersion = -1;
  readonly #listeners = new Set<() => void>();
  readonly #search: Paced<SearchResult>;
  readonly #rows: Paced<TreeRows>;
  /** The nodes that were open before a search, which opens all that it finds. */
  #openBefore: OpenState | undefined;

  /** @param now milliseconds on a clock that never goes back */
  constructor(now: () => number = () => performance.now()) {
    this.#search = new Paced(SEARCH_INTERVAL_MS, now, () => searchTopics(this.index, this.#query));
    this.#rows = new Paced(
      REDRAW_INTERVAL_MS,
      now,
      () => new TreeRows(this.index.root, this.#open, this.search),
    );
  }

  /** Another number after every change, and while the rows shown are behind. */
  get version(): number {
    return this.#version;
  }

  get query(): string {
    return this.#query;
  }

  get selected(): TopicNode | undefined {
    return this.#selected;
  }

  /** The last messages of the selected topic, oldest first: those that are still in the log. */
  get history(): readonly LoggedMessage[] {
    return this.#history?.messages ?? NONE;
  }

  get search(): SearchResult | undefined {
    if (this.#query === '') return undefined;
    return this.#search.get(`${this.index.structureVersion} ${this.#query}`, this.#urgent);
  }

  get rows(): TreeRows {
    const key = `${this.index.structureVersion} ${this.#open.version} ${this.#query} ${this.search?.topics}`;
    const rows = this.#rows.get(key, this.#urgent);
    this.#urgent = false;
    return rows;
  }

  take(messages: readonly LoggedMessage[]): void {
    this.index.add(messages);
    this.#openFirst();
    this.#history?.take(messages);
    this.#version += 1;
  }

  /** A small tree is open at first. */
  #openFirst(): void {
    const { structureVersion, topicCount, root } = this.index;
    if (structureVersion === this.#openedVersion || topicCount > OPEN_TOPICS_MAX) return;
    this.#openedVersion = structureVersion;
    const open = this.#query === '' ? this.#open : (this.#openBefore ?? this.#open);
    open.openNew(root);
  }

  toggle(node: TopicNode, isOpen: boolean): void {
    this.#open.set(node, isOpen);
    this.#changed();
  }

  openAll(isOpen: boolean): void {
    this.#open.setAll(isOpen);
    this.#changed();
  }

  setQuery(query: string): void {
    if (query === this.#query) return;
    if (this.#query === '') {
      this.#openBefore = this.#open;
      this.#open = new OpenState();
      this.#open.setAll(true);
    } else if (query === '' && this.#openBefore !== undefined) {
      this.#open = this.#openBefore;
      if (this.#selected !== undefined) this.#open.reveal(this.#selected);
    }
    this.#query = query;
    this.#changed();
  }

  /** @param log where its last messages are looked for */
  select(node: TopicNode | undefined, log: MessageLog): void {
    this.#selected = node;
    this.#history = node?.topic === undefined ? undefined : new TopicHistory(node.topic, log);
    this.#changed();
  }

  clear(): void {
    this.index.clear();
    this.#selected = undefined;
    this.#history = undefined;
    this.#changed();
  }

  /** Calls the listener at once for the user's changes, and for messages at a readable pace. */
  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    const timer = setInterval(() => {
      if (this.#rows.isBehind || this.#search.isBehind) this.#version += 1;
      listener();
    }, REDRAW_INTERVAL_MS);
    return () => {
      clearInterval(timer);
      this.#listeners.delete(listener);
    };
  };

  #changed(): void {
    this.#urgent = true;
    this.#version += 1;
    for (const listener of [...this.#listeners]) listener();
  }
}
