import type { QoS } from '@apus/mqtt';
import { describe, expect, it } from 'vitest';
import type { Acknowledged, CompletingPacket } from '../src/index.ts';
import { QueueClient } from './queue-support.ts';
import { type MakeStores, NOW_MS, summary } from './support.ts';

/** Which packet ends, or goes on with, the exchange of a message at each of its points. */
const ANSWERS: readonly {
  qos: QoS;
  isReleased: boolean;
  answers: Record<CompletingPacket, Acknowledged>;
  release: Acknowledged;
}[] = [
  {
    qos: 1,
    isReleased: false,
    answers: { puback: 'done', pubrec: 'out-of-place', pubcomp: 'out-of-place' },
    release: 'out-of-place',
  },
  {
    qos: 2,
    isReleased: false,
    answers: { puback: 'out-of-place', pubrec: 'done', pubcomp: 'out-of-place' },
    release: 'done',
  },
  {
    qos: 2,
    isReleased: true,
    answers: { puback: 'out-of-place', pubrec: 'out-of-place', pubcomp: 'done' },
    release: 'done',
  },
];

export function queueAnswersContract(makeStores: MakeStores): void {
  describe.each(ANSWERS)(
    'a message at QoS $qos, released: $isReleased',
    ({ qos, isReleased, answers, release }) => {
      const sent = async () => {
        const client = await QueueClient.make(makeStores);
        const { packetId } = await client.offer('a', { qos });
        if (isReleased) await client.release(packetId);
        return { queues: client.stores.queues, session: await client.session(), packetId };
      };

      it.each(Object.entries(answers) as [CompletingPacket, Acknowledged][])(
        'answered by %s is %s [MQTT-4.3.2-3] [MQTT-4.3.3-3] [MQTT-4.3.3-5]',
        async (answer, outcome) => {
          const { queues, session, packetId } = await sent();
          expect(await queues.complete(session, packetId, answer)).toBe(outcome);
          // An acknowledgement out of place changes nothing: the message can still be completed.
          expect(await queues.complete(session, packetId)).toBe(outcome === 'done' ? 'unknown' : 'done');
        },
      );

      it(`released by PUBREC is ${release}`, async () => {
        const { queues, session, packetId } = await sent();
        expect(await queues.release(session, packetId)).toBe(release);
      });
    },
  );

  describe('an answer for a packet id that is not in use', () => {
    it('is unknown', async () => {
      const client = await QueueClient.make(makeStores);
      const session = await client.session();
      expect(await client.stores.queues.complete(session, 1, 'puback')).toBe('unknown');
      expect(await client.stores.queues.release(session, 1)).toBe('unknown');
    });
  });

  describe('a page limited in bytes', () => {
    // Each message is 10 bytes: the topic `a/b` and seven of payload.
    const offered = async (isResend: boolean) => {
      const client = await QueueClient.make(makeStores);
      await client.offerAll(['1......', '2......', '3......', '4......'], { isHeld: !isResend });
      if (isResend) await client.resume(10);
      return async (bytes: number) => {
        const page = await client.stores.queues.next(await client.session(), { messages: 10, bytes }, NOW_MS);
        return summary(page).map((payload) => payload.slice(0, 1));
      };
    };

    it.each([false, true])(
      'ends before the message that would exceed it (sent again: %s)',
      async (isResend) => {
        const next = await offered(isResend);
        expect(await next(29)).toEqual(['1', '2']);
        expect(await next(20)).toEqual(['3', '4']);
      },
    );

    it('is not filled with a shorter message that came after one to be sent again', async () => {
      const client = await QueueClient.make(makeStores);
      await client.offerAll(['1', 'long'.repeat(10)]);
      await client.resume();
      await client.offer('2');
      const next = async () =>
        summary(await client.stores.queues.next(await client.session(), { messages: 10, bytes: 10 }, NOW_MS));
      expect(await next()).toEqual(['1+']);
      expect(await next()).toEqual([`${'long'.repeat(10)}+`]);
      expect(await next()).toEqual(['2']);
    });

    it.each([false, true])('holds one message that is larger (sent again: %s)', async (isResend) => {
      const next = await offered(isResend);
      expect(await next(1)).toEqual(['1']);
      expect(await next(0)).toEqual(['2']);
    });
  });
}
