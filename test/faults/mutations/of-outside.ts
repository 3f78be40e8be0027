import { RuleOutlet } from '@apus/aws/testing';
import { vi } from 'vitest';
import { KILLS, type Mutation } from './mutation.ts';

/** Messages that leave for another system by a rule, and records that come from one. */
export const OF_OUTSIDE: readonly Mutation[] = [
  {
    name: 'a message leaves for the target of a rule behind PUBACK',
    install: () => {
      const { flush } = RuleOutlet.prototype;
      vi.spyOn(RuleOutlet.prototype, 'flush').mockImplementation(async function (this: RuleOutlet) {
        void flush.call(this).catch(() => {});
      });
    },
    rates: { ...KILLS, 'queue-fails': 0.3 },
    hasOutside: true,
    finds: ['left behind'],
  },
  {
    name: 'messages behind one that failed count as sent',
    alterations: {
      outside: ({ rules, ...others }) => ({
        ...others,
        rules: async (event, context) => {
          const { batchItemFailures } = await rules(event, context);
          return { batchItemFailures: batchItemFailures.slice(0, 1) };
        },
      }),
    },
    rates: { 'target-fails': 0.4 },
    hasOutside: true,
    finds: ['left behind'],
  },
  {
    name: 'records are committed before their messages are durable',
    alterations: {
      outside: ({ kafka, ...others }) => ({
        ...others,
        kafka: async (event, context) => void kafka(event, context).catch(() => {}),
      }),
    },
    rates: KILLS,
    hasOutside: true,
    finds: ['lost'],
  },
];
