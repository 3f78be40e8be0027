import { vi } from 'vitest';
import { SqsTimers } from '../../../packages/cloud/src/timers/sqs-timers.ts';
import {
  type BegunTick,
  DynamoConflatedGroups,
} from '../../../packages/store-dynamodb/src/subscriptions/conflated-groups.ts';
import { appends } from './directed-steps.ts';
import { type Mutation, slowly, UNBROKEN } from './mutation.ts';

type Group = Parameters<DynamoConflatedGroups['begin']>;

/** A head that was armed until then is armed no more. */
const LONG_AGO_MS = 0;

const STEPS = appends({ topic: 'short/a', everyMs: 370, durationMs: 4_000 });

/** Whether a subscriber with `conflate-ms` gets the newest message at last. */
export const OF_CONFLATION: readonly Mutation[] = [
  {
    name: 'a tick disarms its group when it has told it',
    install: () =>
      ticksAs((tick, groups, group) => {
        const armed = groups.armed(...group, Date.now());
        return {
          ...tick,
          done: async (told) => {
            await armed;
            await tick.done(told);
            await groups.armed(...group, LONG_AGO_MS);
          },
        };
      }),
    store: slowly(40),
    rates: UNBROKEN,
    hasConflated: true,
    finds: ['conflated'],
  },
  {
    name: 'a conflated message counts as told before workers have it',
    install: () =>
      ticksAs((tick) => ({
        ...tick,
        hasTold: (topic, position) => {
          const has = tick.hasTold(topic, position);
          void tick.done(new Map([[topic, position]])).catch(() => {});
          return has;
        },
      })),
    steps: STEPS,
    store: slowly(20),
    rates: { 'kill-at-checkpoint': 0.1 },
    hasConflated: true,
    finds: ['conflated'],
  },
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
        const [, topicFilter, intervalMs] = call;
        await sends.get(`${intervalMs}/${topicFilter}`)?.();
      });
    },
    steps: STEPS,
    store: slowly(20),
    rates: { 'kill-at-checkpoint': 0.1 },
    hasConflated: true,
    finds: ['conflated'],
  },
];

/** Changes each tick that has been begun. */
function ticksAs(change: (tick: BegunTick, groups: DynamoConflatedGroups, group: Group) => BegunTick): void {
  const { begin } = DynamoConflatedGroups.prototype;
  vi.spyOn(DynamoConflatedGroups.prototype, 'begin').mockImplementation(async function (
    this: DynamoConflatedGroups,
    ...group
  ) {
    const tick = await begin.apply(this, group);
    return typeof tick === 'string' ? tick : change(tick, this, group);
  });
}
