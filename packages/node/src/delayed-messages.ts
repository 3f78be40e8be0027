import {
  type Awaitable,
  type Broker,
  type DelayedMessages,
  isExpired,
  type Log,
  type Message,
  type PublishRequest,
  remainingSeconds,
} from '@apus/broker';
import { ReasonCode, Violation } from '@apus/mqtt';
import { DueHeap } from './due-heap.ts';
import type { KeptMessage, KeptMessages } from './kept-messages.ts';
import type { Scheduler } from './scheduler.ts';

/** Messages of all tenants that wait to be published, and their bytes with properties. */
export const DELAYED_MESSAGES_MAX = 100_000;
export const DELAYED_BYTES_MAX = 32 * 1024 * 1024;

/** Until the next attempt, where the broker has no room for a message that is due. */
const AGAIN_MS = 1_000;

interface Parts {
  readonly kept: KeptMessages;
  readonly clock: Scheduler;
  readonly log: Log;
}

/**
 * Messages of `$delayed/SECONDS/TOPIC` until they are due. Each is published before it is forgotten: a kill between the
 * two publishes it again.
 */
export class NodeDelayedMessages implements DelayedMessages {
  readonly #parts: Parts;
  readonly #due = new DueHeap<string>();
  #broker: Broker | undefined;
  #wakeAtMs = Number.POSITIVE_INFINITY;
  #cancelWake: () => void = () => {};

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Takes up those that are in the store. */
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

  keep(tenant: string, message: Message, dueAtMs: number): Awaitable<boolean> {
    const key = `${tenant}/${message.id}`;
    const kept = this.#parts.kept.put({ key, message, facts: { dueAtMs: String(dueAtMs) } });
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

  /** One after another: messages that were published in an order and are due at a time keep it. */
  async #wake(): Promise<void> {
    const { clock, log } = this.#parts;
    // Until it is done: what comes meanwhile is armed at the end.
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

  /** False: later. */
  async #publish(key: string): Promise<boolean> {
    const { kept, clock, log } = this.#parts;
    const found = await kept.get(key);
    if (found === undefined || this.#broker === undefined) return true;
    if (!isExpired(found.message, clock.now())) {
      const answer = await this.#broker.publish(requestOf(found, clock.now()));
      if (answer instanceof Violation) {
        log.warn('delayed-message-refused', { topic: found.message.topic, reason: answer.reason });
        if (answer.reasonCode === ReasonCode.QuotaExceeded) return false;
      }
    }
    await kept.delete(found);
    return true;
  }
}

function requestOf({ key, message }: KeptMessage, nowMs: number): PublishRequest {
  const [tenant = ''] = key.split('/');
  const { topic, payload, qos, retain, properties, expiresAtMs } = message;
  const expiry =
    expiresAtMs === undefined ? {} : { messageExpiryInterval: remainingSeconds(expiresAtMs, nowMs) };
  return { tenant, topic, payload, qos, retain, properties: { ...properties, ...expiry } };
}
