/** How a topic is written towards one client. */
export interface TopicForm {
  readonly alias: number;
  /** The client knows the alias: the broker leaves the topic out. */
  readonly known: boolean;
}

/**
 * The Topic Aliases that the broker sets towards one client, for the length of its connection [MQTT-3.3.2-7]. First
 * come, first served: a client that allows few aliases gets them for its first topics, and none is ever reassigned.
 */
export class TopicAliases {
  readonly #maximum: number;
  readonly #aliases = new Map<string, number>();

  /** `maximum` is the client's Topic Alias Maximum [MQTT-3.1.2-26]. */
  constructor(maximum: number) {
    this.#maximum = maximum;
  }

  /** Undefined: no alias is free for the topic [MQTT-3.3.2-11] [MQTT-3.3.2-8]. */
  formOf(topic: string): TopicForm | undefined {
    const alias = this.#aliases.get(topic);
    if (alias !== undefined) return { alias, known: true };
    if (this.#aliases.size >= this.#maximum) return undefined;
    return { alias: this.#aliases.size + 1, known: false };
  }

  /** The client is being sent the alias. */
  sent(topic: string, form: TopicForm): void {
    if (!form.known) this.#aliases.set(topic, form.alias);
  }
}
