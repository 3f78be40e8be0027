import { DISCONNECT_CODE } from '@apus/aws';
import { ReasonCode } from '@apus/mqtt';
import { differs, type ProbeItem, passed } from './item.ts';
import { ProbeClient } from './probe-client.ts';

/** Below the minute for which the session of a lost client waits. */
const TRIES = 60;
const EVERY_MS = 150;

/**
 * The session of a client that has sent the DISCONNECT close code has ended; that of a lost client still has its
 * subscription.
 */
export const closeCode: ProbeItem = {
  name: 'close-code',
  summary: '$disconnect is told the code with which a client closes',
  billedMessages: 14,
  seconds: 3,
  run: async (context) => {
    const topic = `apus-probe/${context.name}/closed`;
    const publisher = await ProbeClient.connect(context, 'publisher');
    try {
      const leaver = await ProbeClient.connect(context, 'leaver', { offers: 'move,resume,close' });
      await leaver.subscribe(topic);
      leaver.close(DISCONNECT_CODE);
      for (let tries = 0; tries < TRIES; tries += 1) {
        const [puback] = await publisher.exchange(publisher.publishPacket(topic, 'x', 1));
        const isOver = puback?.type === 'puback' && puback.reasonCode === ReasonCode.NoMatchingSubscribers;
        if (isOver) return passed(`a close with ${DISCONNECT_CODE} has ended the session at once.`);
        await context.sleep(EVERY_MS);
      }
      return differs(
        `a session that was closed with ${DISCONNECT_CODE} still waits for its client: set --without-extensions close.`,
      );
    } finally {
      await publisher.end();
    }
  },
};
