import { GatheredJobs } from '@apus/aws/lambda';
import { vi } from 'vitest';
import { bursts, colds, inOrder } from './directed-steps.ts';
import type { Mutation } from './mutation.ts';

/** At QoS 1 a slice may be sent twice, and at QoS 2 each message is deduplicated. */
const QOS_0 = bursts({ topic: 'news', qos: 0, messages: 2, everyMs: 100, durationMs: 6_000 });

/** Mutations of a message's way from its publisher to its recipients. */
export const OF_FAN_OUT: readonly Mutation[] = [
  {
    name: 'a slice is served without being claimed',
    alterations: {
      cloud: ({ stores }) => {
        stores.fanOutProgress.begin = async () => ({ outcome: 'begun' });
        stores.fanOutProgress.advance = async () => true;
      },
    },
    steps: QOS_0,
    rates: { 'queue-redelivers-early': 0.3, 'queue-slow': 0.3, 'kill-at-checkpoint': 0.02 },
    finds: ['order', 'doubled', 'lost'],
  },
  {
    name: 'PUBACK goes out before the queue of a wide filter has the message',
    install: () => {
      const { flush } = GatheredJobs.prototype;
      vi.spyOn(GatheredJobs.prototype, 'flush').mockImplementation(async function (this: GatheredJobs) {
        setTimeout(() => flush.call(this).catch(() => {}), 1);
      });
    },
    steps: inOrder(
      bursts({ topic: 'news', qos: 1, messages: 1, everyMs: 100, durationMs: 6_000 }),
      colds(150, 6_000),
    ),
    finds: ['lost'],
  },
];
