import {
  DeduplicationRecords,
  DynamoReceived,
  Forgotten,
  RecordOffer,
  Records,
} from '@apus/store-dynamodb/testing';
import { vi } from 'vitest';
import { bursts } from './directed-steps.ts';
import { doneAtOnce, KILLS, type Mutation, writtenAs } from './mutation.ts';

const DURATION_MS = 4_000;
const REPETITIONS = { 'kill-after-post': 0.1, 'queue-redelivers-early': 0.1 };
const QOS_2 = bursts({ topic: 'news', qos: 2, messages: 2, everyMs: 150, durationMs: DURATION_MS });

/** Mutations of QoS 2: pending, handed on, deduplicated. */
export const OF_EXACTLY_ONCE: readonly Mutation[] = [
  {
    name: 'a QoS 2 message that is pending counts as handed on',
    install: () => {
      const { begin } = DynamoReceived.prototype;
      vi.spyOn(DynamoReceived.prototype, 'begin').mockImplementation(async function (
        this: DynamoReceived,
        ...call
      ) {
        const receipt = await begin.apply(this, call);
        return receipt.state === 'pending' ? { ...receipt, state: 'delivered' } : receipt;
      });
    },
    rates: KILLS,
    finds: ['lost'],
  },
  {
    name: 'a QoS 2 message counts as handed on before it has left',
    install: doneAtOnce,
    rates: { 'kill-at-checkpoint': 0.03, 'kill-before-post': 0.1, 'queue-fails': 0.1 },
    finds: ['lost'],
  },
  {
    name: 'a record does not note the QoS 2 copies whose exchange is complete',
    install: () => writtenAs(() => ({ completed: [] })),
    steps: QOS_2,
    durationMs: DURATION_MS,
    rates: REPETITIONS,
    finds: ['doubled'],
  },
  {
    name: 'what a record forgets of QoS 2 copies is not written',
    install: () => {
      vi.spyOn(Forgotten.prototype, 'items').mockReturnValue([]);
    },
    steps: QOS_2,
    durationMs: DURATION_MS,
    rates: REPETITIONS,
    finds: ['doubled'],
  },
  {
    name: 'a share group does not remember the copies of QoS 2 messages',
    install: () => {
      vi.spyOn(DeduplicationRecords.prototype, 'recordOf').mockReturnValue(undefined);
    },
    steps: bursts({ topic: 'jobs', qos: 2, messages: 2, everyMs: 150, durationMs: DURATION_MS }),
    durationMs: DURATION_MS,
    rates: REPETITIONS,
    finds: ['doubled'],
  },
  {
    name: 'a QoS 2 copy that may never have been posted counts as sent',
    install: () => {
      const { append } = RecordOffer.prototype;
      const { lost } = Records.prototype;
      let appending = 0;
      vi.spyOn(RecordOffer.prototype, 'uncertain', 'get').mockReturnValue([]);
      vi.spyOn(RecordOffer.prototype, 'append').mockImplementation(async function (this: RecordOffer) {
        appending += 1;
        try {
          return await append.call(this);
        } finally {
          appending -= 1;
        }
      });
      vi.spyOn(Records.prototype, 'lost').mockImplementation(async function (this: Records, ...call) {
        if (appending === 0) await lost.apply(this, call);
      });
    },
    steps: QOS_2,
    durationMs: DURATION_MS,
    rates: { 'kill-before-post': 0.2 },
    finds: ['lost'],
  },
];
