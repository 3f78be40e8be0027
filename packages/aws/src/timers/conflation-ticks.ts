import type { Clock, ConflatedGroup, ConflatedGroups, ConflatedTick } from '@apus/broker';
import type { DynamoConflatedGroups } from '@apus/store-dynamodb';
import type { SqsTimers } from './sqs-timers.ts';

export interface ConflationTicksOptions {
  readonly groups: DynamoConflatedGroups;
  readonly timers: SqsTimers;
  readonly clock: Clock;
  readonly randomId: () => string;
}

/**
 * The ticks of conflated groups, as delayed messages in the timers' queue. A tick is sent before the head of its
 * filter says that it is armed: if a process dies in between, its tick tells the group if no other one is armed, and
 * ends.
 */
export class ConflationTicks implements ConflatedGroups {
  readonly #options: ConflationTicksOptions;

  constructor(options: ConflationTicksOptions) {
    this.#options = options;
  }

  async arm(group: ConflatedGroup, delayMs: number): Promise<void> {
    const { groups, timers, clock, randomId } = this.#options;
    const { tenant, topicFilter, intervalMs } = group;
    const tick = { tickId: randomId(), dueAtMs: clock.now() + delayMs };
    await timers.armConflation({ tenant, topicFilter, intervalMs, ...tick });
    await groups.armed(group, tick);
  }

  async begin(group: ConflatedGroup, tickId: string): Promise<ConflatedTick | 'over'> {
    return await this.#options.groups.begin(group, tickId);
  }
}
