import { differs, type Finding, type ProbeContext, type ProbeItem, passed, until } from './item.ts';
import { ProbeClient } from './probe-client.ts';

const MOVES = 20;
const PUBLISHERS = 3;
/** Messages that each publisher sends while a session moves. */
const MESSAGES_A_MOVE = 6;
const MESSAGES = MOVES * PUBLISHERS * MESSAGES_A_MOVE;
const WAIT_MS_MAX = 10_000;

/**
 * A session moves from connection to connection while others publish to it. The server closes the old connection at
 * each move.
 */
export const cut: ProbeItem = {
  name: 'cut',
  summary: 'a post that was answered arrives before the close of a connection that is deleted after it',
  billedMessages: 3 * MESSAGES + 4 * MOVES,
  seconds: 20,
  run: async (context) => {
    const topic = `apus-probe/${context.name}/cut`;
    const first = await ProbeClient.connect(context, 'moves', { offers: 'move' });
    const publishers = await Promise.all(
      Array.from({ length: PUBLISHERS }, (_, index) => ProbeClient.connect(context, `beside-${index}`)),
    );
    const connections = [first];
    try {
      await first.subscribe(topic);
      await moveBeside(context, topic, connections, publishers);
      return await judge(context, connections);
    } finally {
      await Promise.all([connections.at(-1)?.end(), ...publishers.map((each) => each.end())]);
    }
  },
};

/**
 * Records each connection that the session moves to. A publisher waits for the acknowledgement of one message before it
 * sends the next.
 */
async function moveBeside(
  context: ProbeContext,
  topic: string,
  connections: ProbeClient[],
  publishers: readonly ProbeClient[],
): Promise<void> {
  for (let move = 0; move < MOVES; move += 1) {
    const publishing = publishers.map(async (publisher, index) => {
      for (let place = 0; place < MESSAGES_A_MOVE; place += 1)
        await publisher.publish(topic, `${index} ${move * MESSAGES_A_MOVE + place}`);
    });
    const last = connections.at(-1);
    const moved = last?.move(context).then((next) => connections.push(next));
    await Promise.all([moved, last?.closed, ...publishing]);
  }
}

/** Checks the messages in the order in which a client delivers them: those of an earlier connection come first. */
async function judge({ sleep }: ProbeContext, connections: readonly ProbeClient[]): Promise<Finding> {
  const received = () =>
    connections.flatMap(({ published }) => published.map(({ payload }) => Buffer.from(payload).toString()));
  await until(() => new Set(received()).size >= MESSAGES, WAIT_MS_MAX, sleep);
  const all = received();
  const missing = MESSAGES - new Set(all).size;
  if (missing > 0)
    return differs(
      `${missing} of ${MESSAGES} posts beside ${MOVES} cuts have not arrived: set --cut-after-ms.`,
    );
  const late = Array.from({ length: PUBLISHERS }, (_, publisher) => lateOf(all, publisher)).reduce(
    (a, b) => a + b,
  );
  if (late > 0)
    return differs(
      `${late} of ${MESSAGES} posts beside ${MOVES} cuts came behind one that was sent after them.`,
    );
  return passed(`${MESSAGES} of ${MESSAGES} posts beside ${MOVES} cuts came in their order.`);
}

function lateOf(received: readonly string[], publisher: number): number {
  const numbers = received.flatMap((each) => {
    const [by, number] = each.split(' ').map(Number);
    return by === publisher && number !== undefined ? [number] : [];
  });
  return numbers.filter((each, index) => index > 0 && each < (numbers[index - 1] ?? 0)).length;
}
