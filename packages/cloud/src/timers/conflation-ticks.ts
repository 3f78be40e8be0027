import type { Clock, ConflatedGroup, ConflatedGroups, ConflatedTick } from '@apus/broker';
import type { DynamoConflatedGroups } from '@apus/store-dynamodb';
import type { SqsTimers } from './sqs-timers.ts';

/**
 * The ticks of conflated groups, as delayed messages of the timers' queue. A tick is sent before the head of its filter says
 * that it is armed: a process that dies between leaves one tick too many, which tells nothing.
 */
export class ConflationTicks implements ConflatedGroups {
  readonly #groups: DynamoConflatedGroups;
  readonly #timers: SqsTimers;
  readonly #clock: Clock;

  constructor(groups: DynamoConflatedGroups, timers: SqsTimers, clock: Clock) {
    this.#groups = groups;
    this.#timers = timers;
    this.#clock = clock;
  }

  async arm({ tenant, topicFilter, intervalMs }: ConflatedGroup, delayMs: number): Promise<void> {
    const dueAtMs = this.#clock.now() + delayMs;
    await this.#timers.armConflation({ tenant, topicFilter, intervalMs, dueAtMs });
    await this.#groups.armed(tenant, topicFilter, intervalMs, dueAtMs);
  }

  async begin({ tenant, topicFilter, intervalMs }: ConflatedGroup): Promise<ConflatedTick | 'busy' | 'over'> {
    return await this.#groups.begin(tenant, topicFilter, intervalMs);
  }
}
