import { SqsTimers } from '@apus/aws/testing';
import { DynamoConflatedGroups } from '@apus/store-dynamodb/testing';
import { vi } from 'vitest';
import { appends } from './directed-steps.ts';
import { type Mutation, slowly } from './mutation.ts';

const LATE_MS = 900;

/** Whether a subscriber with `conflate-ms` finally gets the newest message. */
export const OF_CONFLATION: readonly Mutation[] = [
  {
    name: 'a group counts as armed before its tick is sent',
    install: () => {
      const { armConflation } = SqsTimers.prototype;
      const { armed } = DynamoConflatedGroups.prototype;
      const sends = new Map<string, () => Promise<void>>();
      vi.spyOn(SqsTimers.prototype, 'armConflation').mockImplementation(async function (
        this: SqsTimers,
        tick,
      ) {
        sends.set(`${tick.intervalMs}/${tick.topicFilter}`, () => armConflation.call(this, tick));
      });
      vi.spyOn(DynamoConflatedGroups.prototype, 'armed').mockImplementation(async function (
        this: DynamoConflatedGroups,
        ...call
      ) {
        await armed.apply(this, call);
        const [{ topicFilter, intervalMs }] = call;
        await sends.get(`${intervalMs}/${topicFilter}`)?.();
      });
    },
    steps: appends({ topic: 'short/a', everyMs: 370, durationMs: 4_000 }),
    store: slowly(20),
    rates: { 'kill-at-checkpoint': 0.1 },
    hasConflated: true,
    finds: ['conflated'],
  },
  {
    name: 'a tick looks once more before it has made room for the next one',
    install: () => {
      const { begin } = DynamoConflatedGroups.prototype;
      vi.spyOn(DynamoConflatedGroups.prototype, 'begin').mockImplementation(async function (
        this: DynamoConflatedGroups,
        ...call
      ) {
        const tick = await begin.apply(this, call);
        if (tick === 'over') return tick;
        return { ...tick, done: async (told) => void setTimeout(() => void tick.done(told), LATE_MS) };
      });
    },
    steps: appends({ topic: 'short/a', everyMs: 370, durationMs: 4_000 }),
    store: slowly(20),
    hasConflated: true,
    finds: ['conflated'],
  },
];
