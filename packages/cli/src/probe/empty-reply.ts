import { differs, type ProbeItem, passed } from './item.ts';
import { ProbeClient } from './probe-client.ts';

const FRAMES = 20;
const PING_ANSWERS = 1;
/** The probe waits this long for a reply that may be on its way. */
const WAIT_MS = 2_000;

/** The function answers without a body to a frame that wants no reply. */
export const emptyReply: ProbeItem = {
  name: 'empty-reply',
  summary: 'a route response without a body is not sent',
  billedMessages: FRAMES + 8,
  seconds: 3,
  run: async (context) => {
    const client = await ProbeClient.connect(context, 'empty');
    try {
      const before = client.messages.length;
      for (let index = 0; index < FRAMES; index += 1) {
        client.send([client.publishPacket(`apus-probe/${context.name}/nobody`, 'x', 0)], ',');
      }
      await context.sleep(WAIT_MS);
      // A server that answers in order has answered all of them when it has answered this one.
      await client.exchange({ type: 'pingreq' });
      const came = client.messages.slice(before);
      const empty = came.filter((each) => each === '').length;
      if (empty > 0) {
        return differs(
          `${empty} of ${FRAMES} came as empty messages: each publish without an answer is billed twice.`,
        );
      }
      const unasked = came.length - PING_ANSWERS;
      if (unasked > 0) return differs(`${unasked} unexpected messages came.`);
      return passed(
        `none of ${FRAMES} was sent. The metric MessageCount of the API in CloudWatch shows whether they are billed.`,
      );
    } finally {
      await client.end();
    }
  },
};
