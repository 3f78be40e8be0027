import type { Awaitable, Broker, DelayedMessages, Message, Publisher } from '@apus/broker';
import { DueHeap } from './due-heap.ts';
import {
  AGAIN_MS,
  type DelayedParts,
  delayedFacts,
  delayedKey,
  delayedShare,
  publishDelayed,
} from './publish-delayed.ts';

/** Messages of `$delayed/SECONDS/TOPIC` of this process, until they are due. */
export class NodeDelayedMessages implements DelayedMessages {
  readonly #parts: DelayedParts;
  readonly #due = new DueHeap<string>();
  #broker: Broker | undefined;
  #wakeAtMs = Number.POSITIVE_INFINITY;
  #cancelWake: () => void = () => {};

  constructor(parts: DelayedParts) {
    this.#parts = parts;
  }

  /** Loads the messages from the store. */
  async start(broker: Broker): Promise<void> {
    this.#broker = broker;
    for await (const { key, facts } of this.#parts.kept.all('#'))
      this.#due.set(key, Number(facts.dueAtMs), key);
    this.#arm();
  }

  stop(): void {
    this.#cancelWake();
    this.#wakeAtMs = Number.NEGATIVE_INFINITY;
  }

  keep(
    tenant: string,
    message: Message,
    dueAtMs: number,
    publisher: Publisher | undefined,
  ): Awaitable<boolean> {
    const key = delayedKey(tenant, message.id);
    const facts = { dueAtMs: String(dueAtMs), ...delayedFacts(publisher) };
    const kept = this.#parts.kept.put({ key, message, facts }, delayedShare(tenant));
    return kept instanceof Promise
      ? kept.then((is) => this.#set(key, dueAtMs, is))
      : this.#set(key, dueAtMs, kept);
  }

  #set(key: string, dueAtMs: number, isKept: boolean): boolean {
    if (!isKept) return false;
    this.#due.set(key, dueAtMs, key);
    this.#arm();
    return true;
  }

  #arm(): void {
    const dueAtMs = this.#due.nextDueAtMs;
    if (dueAtMs === undefined || dueAtMs >= this.#wakeAtMs) return;
    this.#cancelWake();
    this.#wakeAtMs = dueAtMs;
    const { clock } = this.#parts;
    this.#cancelWake = clock.after(Math.max(0, dueAtMs - clock.now()), () => void this.#wake());
  }

  /** Publishes one after another: messages that are due at the same time keep their order. */
  async #wake(): Promise<void> {
    const { clock, log } = this.#parts;
    // Until it is done: the end arms a timer for messages that come meanwhile.
    this.#wakeAtMs = Number.NEGATIVE_INFINITY;
    for (let key = this.#due.takeDue(clock.now()); key !== undefined; key = this.#due.takeDue(clock.now())) {
      const isDone = await this.#publish(key).catch((error: unknown) => {
        log.error('delayed-message-failed', { key, error: String(error) });
        return false;
      });
      if (isDone) continue;
      this.#due.set(key, clock.now() + AGAIN_MS, key);
    }
    this.#wakeAtMs = Number.POSITIVE_INFINITY;
    this.#arm();
  }

  /** False: has to be tried again later. */
  async #publish(key: string): Promise<boolean> {
    return this.#broker === undefined || (await publishDelayed(this.#parts, this.#broker, key));
  }
}
