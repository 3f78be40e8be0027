import type {
  Awaitable,
  Message,
  PageLimit,
  RetainedLimits,
  RetainedPage,
  RetainedStore,
} from '@apus/broker';
import type { MemoryRetained } from '@apus/store-memory';
import { retainedCodec } from './codec.ts';
import { retainedKey } from './keys.ts';
import type { RetainedSweep } from './retained-sweep.ts';
import type { Writer } from './writer.ts';

const ONE: PageLimit = { messages: 1, bytes: Number.POSITIVE_INFINITY };

/** Earlier than any expiry: finds expired messages too. */
const BEGINNING_OF_TIME_MS = Number.NEGATIVE_INFINITY;

/** The retained message of one topic, whether it has expired or not. */
export function retainedIn(memory: MemoryRetained, tenant: string, topicName: string): Message | undefined {
  return memory.match(tenant, topicName, BEGINNING_OF_TIME_MS, undefined, ONE).messages[0];
}

/** Retained messages in memory and on the disk. */
export class DiskRetained implements RetainedStore {
  readonly #memory: MemoryRetained;
  readonly #sweep: RetainedSweep;
  readonly #writer: Writer;

  constructor(memory: MemoryRetained, sweep: RetainedSweep, writer: Writer) {
    this.#memory = memory;
    this.#sweep = sweep;
    this.#writer = writer;
  }

  /** At QoS 0 no client is told that the message is retained, so the caller does not wait. */
  put(tenant: string, message: Message, limits: RetainedLimits): Awaitable<boolean> {
    this.#writer.assertWorking();
    if (!this.#memory.put(tenant, message, limits)) return false;
    const isKept = retainedIn(this.#memory, tenant, message.topic) === message;
    if (isKept)
      this.#writer.put(
        retainedKey(tenant, message.topic),
        retainedCodec.encode({ tenant, message, holder: limits.holder?.holder }),
      );
    if (message.expiresAtMs !== undefined) this.#sweep.step();
    return message.qos > 0 ? this.#writer.durable(true) : this.#writer.accepted(true);
  }

  /**
   * If the message is gone already, another call has just deleted it, perhaps not on the disk yet:
   *
   *     A: delete   memory: gone   waits for the disk
   *     B: delete   memory: nothing there           → waits with A: a crash now would bring the message back
   */
  delete(tenant: string, topicName: string, before: string): Awaitable<void> {
    this.#writer.assertWorking();
    const wasThere = retainedIn(this.#memory, tenant, topicName) !== undefined;
    this.#memory.delete(tenant, topicName, before);
    const isGone = retainedIn(this.#memory, tenant, topicName) === undefined;
    if (wasThere && isGone) this.#writer.remove(retainedKey(tenant, topicName));
    return this.#writer.durable(undefined);
  }

  match(
    tenant: string,
    topicFilter: string,
    nowMs: number,
    from: string | undefined,
    limit: PageLimit,
  ): RetainedPage {
    return this.#memory.match(tenant, topicFilter, nowMs, from, limit);
  }

  bytes(tenant: string): number {
    return this.#memory.bytes(tenant);
  }

  tenants(): readonly string[] {
    return this.#memory.tenants();
  }

  countAll(): number {
    return this.#memory.countAll();
  }

  /** How many are retained. An expired one counts until a call finds it expired. */
  count(tenant: string): number {
    return this.#memory.count(tenant);
  }
}
