import { vi } from 'vitest';
import { Copies } from '../../../packages/store-dynamodb/src/queue/copies.ts';
import { bursts } from './directed-steps.ts';
import { KILLS, type Mutation, slowly } from './mutation.ts';

const DURATION_MS = 4_000;
const QOS_2 = bursts({ topic: 'news', qos: 2, messages: 2, everyMs: 150, durationMs: DURATION_MS });

/** QoS 2: pending, handed on, known again. */
export const OF_EXACTLY_ONCE: readonly Mutation[] = [
  {
    name: 'a QoS 2 message that is pending counts as handed on',
    alterations: {
      cloud: ({ stores: { received } }) => {
        const begin = received.begin.bind(received);
        received.begin = async (...call) => {
          const receipt = await begin(...call);
          return receipt.state === 'pending' ? { ...receipt, state: 'settled' } : receipt;
        };
      },
    },
    rates: KILLS,
    finds: ['lost'],
  },
  {
    name: 'a QoS 2 message counts as handed on before it has left',
    alterations: {
      cloud: ({ stores: { received }, environment: { doneAfterFlush } }) => {
        const [afterFlush] = doneAfterFlush;
        Object.assign(afterFlush ?? {}, { settle: received.settle.bind(received) });
      },
    },
    rates: { 'kill-at-checkpoint': 0.03, 'kill-before-post': 0.1, 'queue-fails': 0.1 },
    finds: ['lost'],
  },
  {
    name: 'nobody remembers the copies of QoS 2 messages',
    install: () => {
      vi.spyOn(Copies.prototype, 'memoryOf').mockReturnValue(undefined);
    },
    steps: QOS_2,
    durationMs: DURATION_MS,
    rates: { 'kill-after-post': 0.1, 'queue-redelivers-early': 0.1 },
    finds: ['doubled'],
  },
  {
    name: 'a QoS 2 copy that may be under way is sent again on the same connection',
    alterations: { stores: { endUncertain: () => false } },
    steps: QOS_2,
    durationMs: DURATION_MS,
    // It takes its client a moment to answer, and the second worker comes meanwhile.
    store: slowly(8),
    rates: { 'queue-redelivers-early': 0.5, 'queue-slow': 0.3 },
    finds: ['doubled'],
  },
];
