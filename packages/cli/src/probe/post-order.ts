import { differs, type Finding, type ProbeContext, type ProbeItem, passed, until } from './item.ts';
import { ProbeClient } from './probe-client.ts';

const MESSAGES = 200;
const WAIT_MS_MAX = 10_000;

/** The function posts each message before it answers the frame, and the next frame waits for the answer. */
export const postOrder: ProbeItem = {
  name: 'post-order',
  summary: 'two posts to one connection, the second sent after the first returned, arrive in order',
  billedMessages: 3 * MESSAGES,
  seconds: 15,
  run: async (context) => {
    const subscriber = await ProbeClient.connect(context, 'order-subscriber');
    const publisher = await ProbeClient.connect(context, 'order-publisher');
    try {
      return await compare(context, subscriber, publisher);
    } finally {
      await Promise.all([subscriber.end(), publisher.end()]);
    }
  },
};

async function compare(
  { name, sleep }: ProbeContext,
  subscriber: ProbeClient,
  publisher: ProbeClient,
): Promise<Finding> {
  const topic = `apus-probe/${name}/order`;
  await subscriber.subscribe(topic);
  for (let index = 0; index < MESSAGES; index += 1) await publisher.publish(topic, String(index));
  await until(() => subscriber.published.length >= MESSAGES, WAIT_MS_MAX, sleep);
  const received = subscriber.published.map(({ payload }) => Number(Buffer.from(payload).toString()));
  const late = received.filter((each, index) => index > 0 && each < (received[index - 1] ?? 0)).length;
  if (received.length < MESSAGES)
    return differs(`${MESSAGES - received.length} of ${MESSAGES} posts have not arrived.`);
  if (late > 0) return differs(`${late} of ${MESSAGES} posts came behind one that was sent after them.`);
  return passed(`${MESSAGES} of ${MESSAGES} posts came in their order.`);
}
