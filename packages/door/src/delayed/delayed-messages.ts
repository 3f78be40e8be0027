import { setImmediate } from 'node:timers/promises';
import {
  type Awaitable,
  type Ban,
  type Broker,
  type DelayedMessages,
  type Message,
  type Publisher,
  steadyNow,
  Turn,
} from '@apus/broker';
import { DueHeap } from '../timers/due-heap.ts';
import {
  AGAIN_MS,
  type DelayedParts,
  delayedFacts,
  delayedHolder,
  delayedKey,
  delayMsOf,
  freeDelayed,
  publishDelayed,
} from './publish-delayed.ts';

/** Messages of `$delayed/SECONDS/TOPIC` of this process, until they are due. */
export class LocalDelayedMessages implements DelayedMessages {
  readonly #parts: DelayedParts;
  readonly #due = new DueHeap<string>();
  #broker: Broker | undefined;
  #isStopped = false;
  #wakeAtMs = Number.POSITIVE_INFINITY;
  #cancelWake: () => void = () => {};

  constructor(parts: DelayedParts) {
    this.#parts = parts;
  }

  /** Loads the messages from the store. */
  async start(broker: Broker): Promise<void> {
    this.#broker = broker;
    const { kept, clock } = this.#parts;
    const [nowMs, steadyNowMs] = [clock.now(), steadyNow(clock)];
    for await (const { key, facts } of kept.all('#')) {
      // Where the wall clock went back while the node was down, the whole delay begins anew.
      const leftMs = Math.min(Number(facts.dueAtMs) - nowMs, Number(facts.delayMs));
      this.#due.set(key, steadyNowMs + leftMs, key);
    }
    this.#arm();
  }

  stop(): void {
    this.#isStopped = true;
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
    const { kept, clock, quotas } = this.#parts;
    const delayMs = delayMsOf(dueAtMs, clock.now());
    const facts = { dueAtMs: String(dueAtMs), delayMs: String(delayMs), ...delayedFacts(publisher) };
    const steadyDueMs = steadyNow(clock) + delayMs;
    const isKept = kept.put({ key, message, facts }, delayedHolder(tenant, publisher, quotas));
    return isKept instanceof Promise
      ? isKept.then((is) => this.#set(key, steadyDueMs, is))
      : this.#set(key, steadyDueMs, isKept);
  }

  /** Gives the room of banned clients back. */
  free(ban: Ban): Promise<void> {
    return freeDelayed(this.#parts, ban, (key) => this.#due.delete(key));
  }

  #set(key: string, steadyDueMs: number, isKept: boolean): boolean {
    if (!isKept) return false;
    this.#due.set(key, steadyDueMs, key);
    this.#arm();
    return true;
  }

  #arm(): void {
    const dueAtMs = this.#due.nextDueAtMs;
    if (dueAtMs === undefined || dueAtMs >= this.#wakeAtMs) return;
    this.#cancelWake();
    this.#wakeAtMs = dueAtMs;
    const { clock } = this.#parts;
    this.#cancelWake = clock.after(Math.max(0, dueAtMs - steadyNow(clock)), () => void this.#wake());
  }

  /** Publishes one after another: messages that are due at the same time keep their order. */
  async #wake(): Promise<void> {
    const { clock, log } = this.#parts;
    // Until it is done: the end arms a timer for messages that come meanwhile.
    this.#wakeAtMs = Number.NEGATIVE_INFINITY;
    let turn = new Turn(clock);
    for (let key = this.#takeDue(); key !== undefined; key = this.#takeDue()) {
      const isDone = await this.#publish(key).catch((error: unknown) => {
        log.error('delayed-message-failed', { key, error: String(error) });
        return false;
      });
      if (!isDone) this.#due.set(key, steadyNow(clock) + AGAIN_MS, key);
      if (!turn.isOver) continue;
      // [SEC-WORK-6]
      await setImmediate();
      turn = new Turn(clock);
    }
    if (this.#isStopped) return;
    this.#wakeAtMs = Number.POSITIVE_INFINITY;
    this.#arm();
  }

  #takeDue(): string | undefined {
    return this.#isStopped ? undefined : this.#due.takeDue(steadyNow(this.#parts.clock));
  }

  /** False: has to be tried again later. */
  async #publish(key: string): Promise<boolean> {
    return this.#broker === undefined || (await publishDelayed(this.#parts, this.#broker, key));
  }
}
