/** How a topic is written towards one client. */
export interface TopicForm {
  readonly alias: number;
  /** The client knows the alias: the broker leaves the topic out. */
  readonly known: boolean;
}

/**
 * Characters of the topics behind the aliases of one direction of a connection: one topic of any length, or 32 of two
 * thousand.
 */
export const ALIASED_CHARACTERS_MAX = 65_536;

/** Memory of an alias beside its topic. Rounded up. */
const ALIAS_BYTES = 128;

/** The memory of a door, in which the aliases of all connections count [SEC-MEMORY-7]. */
export interface AliasMemory {
  readonly isFull: boolean;
  change(bytes: number): void;
}

/** Counts the topics that one connection keeps, until it ends. */
class KeptTopics {
  readonly #memory: AliasMemory;
  #characters = 0;
  #bytes = 0;

  constructor(memory: AliasMemory) {
    this.#memory = memory;
  }

  hasRoomFor(characters: number): boolean {
    return (
      characters <= 0 || (!this.#memory.isFull && this.#characters + characters <= ALIASED_CHARACTERS_MAX)
    );
  }

  /** One more alias, or another topic in the place of one of `former` characters. */
  keep(characters: number, former?: number): void {
    this.#characters += characters - (former ?? 0);
    // Two bytes for a character that Latin-1 does not have.
    this.#count(2 * (characters - (former ?? 0)) + (former === undefined ? ALIAS_BYTES : 0));
  }

  release(): void {
    this.#count(-this.#bytes);
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#memory.change(bytes);
  }
}

/** The Topic Aliases that a client has set, for the length of its connection [MQTT-3.3.2-7]. */
export class ClientTopicAliases {
  readonly #topics = new Map<number, string>();
  readonly #kept: KeptTopics;

  constructor(memory: AliasMemory) {
    this.#kept = new KeptTopics(memory);
  }

  get(alias: number): string | undefined {
    return this.#topics.get(alias);
  }

  /** All of them. */
  entries(): (readonly [alias: number, topic: string])[] {
    return [...this.#topics];
  }

  /** False: there is no room for the topic. */
  set(alias: number, topic: string): boolean {
    const former = this.#topics.get(alias)?.length;
    if (!this.#kept.hasRoomFor(topic.length - (former ?? 0))) return false;
    this.#kept.keep(topic.length, former);
    this.#topics.set(alias, topic);
    return true;
  }

  release(): void {
    this.#kept.release();
  }
}

/**
 * The Topic Aliases that the broker sets towards one client, for the length of its connection [MQTT-3.3.2-7]. First
 * come, first served: a client that allows few aliases gets them for its first topics, and none is ever reassigned.
 */
export class TopicAliases {
  readonly #maximum: number;
  readonly #aliases = new Map<string, number>();
  readonly #kept: KeptTopics;

  /** `maximum` is the client's Topic Alias Maximum [MQTT-3.1.2-26]. */
  constructor(maximum: number, memory: AliasMemory) {
    this.#maximum = maximum;
    this.#kept = new KeptTopics(memory);
  }

  /** Undefined: no alias is free for the topic [MQTT-3.3.2-11] [MQTT-3.3.2-8]. */
  formOf(topic: string): TopicForm | undefined {
    const alias = this.#aliases.get(topic);
    if (alias !== undefined) return { alias, known: true };
    if (this.#aliases.size >= this.#maximum || !this.#kept.hasRoomFor(topic.length)) return undefined;
    return { alias: this.#aliases.size + 1, known: false };
  }

  /** The client is being sent the alias. */
  sent(topic: string, form: TopicForm): void {
    if (form.known) return;
    this.#kept.keep(topic.length);
    this.#aliases.set(topic, form.alias);
  }

  release(): void {
    this.#kept.release();
  }
}
