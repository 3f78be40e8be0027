import { differs, notTried, type ProbeContext, type ProbeItem, passed, until } from './item.ts';
import { ObjectClient } from './object-client.ts';
import { ProbeError } from './probe-client.ts';

const RECEIVERS = 20;
/** Fewer than a broker has inflight for a session. */
const MESSAGES = 50;
const PUBACKS = RECEIVERS * MESSAGES;
const ARRIVAL_MS_MAX = 10_000;

const WRITES = 20;
/** A message to a session that is kept waits so long for its commit. */
const WRITE_MS_MAX = 100;

/** Keep Alive has to be shorter than the silence after which a connection is cut. */
const SILENT_SECONDS_LEAST = 90;
const SILENT_SECONDS_MAX = 660;
const LOOK_SECONDS = 10;

const IDLE_CLIENTS = 10;
const PING_SECONDS = 60;
const HOLD_SECONDS_TYPICAL = 300;

/** Cloudflare names 1,000 requests a second as the soft limit of an object, and not what becomes of messages beyond it. */
const pubackBurst: ProbeItem = {
  name: 'puback-burst',
  summary: `${PUBACKS.toLocaleString('en')} PUBACKs at once are taken, and no socket is cut`,
  billedMessages: PUBACKS + MESSAGES + 4 * RECEIVERS,
  seconds: 20,
  run: async (context) => {
    const topic = `apus-probe/${context.name}/burst`;
    const publisher = await ObjectClient.connect(context, 'publisher');
    const receivers = await clientsOf(context, RECEIVERS);
    try {
      await Promise.all(receivers.map((receiver) => receiver.subscribe(topic)));
      for (let number = 0; number < MESSAGES; number += 1) await publisher.publish(topic, String(number));
      const haveAll = () => receivers.every(({ published }) => published.length >= MESSAGES);
      if (!(await until(haveAll, ARRIVAL_MS_MAX, context.sleep)))
        throw new ProbeError(`Not all of ${MESSAGES} messages have come to ${RECEIVERS} clients.`);
      const startedAtMs = performance.now();
      for (let index = 0; index < MESSAGES; index += 1)
        for (const receiver of receivers) acknowledge(receiver, index);
      const answers = await Promise.all(receivers.map(answersPing));
      const silent = answers.filter((isAnswered) => !isAnswered).length;
      if (silent > 0) return differs(`${silent} of ${RECEIVERS} sockets were cut, or answered no more.`);
      const tookMs = Math.round(performance.now() - startedAtMs);
      return passed(`${PUBACKS} PUBACKs of ${RECEIVERS} sockets were taken within ${tookMs} ms.`);
    } finally {
      await Promise.all([publisher, ...receivers].map((client) => client.end()));
    }
  },
};

/** No frame leaves before its write is confirmed: PUBACK of a retained message shows how long that takes. */
const writeTime: ProbeItem = {
  name: 'write-time',
  summary: `a write is confirmed within ${WRITE_MS_MAX} ms`,
  billedMessages: 2 * WRITES + 3,
  seconds: 5,
  run: async (context) => {
    const topic = `apus-probe/${context.name}/write`;
    const client = await ObjectClient.connect(context, 'writer');
    try {
      const pings = await timesOf(() => client.ping());
      const writes = await timesOf((number) => client.publish(topic, String(number), true));
      await client.publish(topic, '', true);
      const seen = `PUBACK of a write comes after ${median(writes)} ms (at most ${writes.at(-1)}), PINGRESP after ${median(pings)}.`;
      return median(writes) - median(pings) <= WRITE_MS_MAX ? passed(seen) : differs(seen);
    } finally {
      await client.end();
    }
  },
};

const idleCut: ProbeItem = {
  name: 'idle-cut',
  summary: `a silent connection is cut after more than ${SILENT_SECONDS_LEAST} s`,
  billedMessages: 2,
  seconds: undefined,
  run: async (context) => {
    const client = await ObjectClient.connect(context, 'silent');
    let silentSeconds = 0;
    while (!client.isClosed && silentSeconds < SILENT_SECONDS_MAX) {
      await context.sleep(LOOK_SECONDS * 1_000);
      silentSeconds += LOOK_SECONDS;
    }
    if (!client.isClosed) {
      await client.end();
      return differs(
        `it was still open after ${SILENT_SECONDS_MAX / 60} minutes: a longer Keep Alive costs less.`,
      );
    }
    const { code } = await client.closed;
    const seen = `it was cut after some ${silentSeconds} s, with ${code}.`;
    return silentSeconds > SILENT_SECONDS_LEAST
      ? passed(seen)
      : differs(`${seen} Keep Alive has to be shorter.`);
  },
};

/** The bill is not told to clients: the operator compares. */
const idleBill: ProbeItem = {
  name: 'idle-bill',
  summary: 'an idle hub is not billed (you compare), and keeps its sockets',
  billedMessages: (IDLE_CLIENTS * HOLD_SECONDS_TYPICAL) / PING_SECONDS,
  seconds: undefined,
  run: async (context) => {
    const { holdSeconds, sleep } = context;
    const clients = await clientsOf(context, IDLE_CLIENTS, PING_SECONDS * 2);
    const from = new Date().toISOString();
    let pings = 0;
    for (let seconds = 0; seconds < holdSeconds; seconds += PING_SECONDS) {
      await sleep(Math.min(PING_SECONDS, holdSeconds - seconds) * 1_000);
      const answers = await Promise.all(clients.map(answersPing));
      pings += answers.filter((isAnswered) => isAnswered).length;
    }
    const cut = clients.filter(({ isClosed }) => isClosed).length;
    await Promise.all(clients.map((client) => client.end()));
    if (cut > 0) return differs(`${cut} of ${IDLE_CLIENTS} connections were cut within ${holdSeconds} s.`);
    return notTried(
      `${IDLE_CLIENTS} connections stayed open from ${from} for ${holdSeconds} s, with ${pings} PINGREQs: compare with the duration in Cloudflare's metrics of Durable Objects, which may show a second at most.`,
    );
  },
};

/** What no documentation of Cloudflare tells, and the object door depends on. */
export const OBJECT_ITEMS: readonly ProbeItem[] = [pubackBurst, writeTime, idleCut, idleBill];

async function clientsOf(
  context: ProbeContext,
  count: number,
  keepAliveSeconds = 0,
): Promise<readonly ObjectClient[]> {
  const connecting = (_: unknown, index: number) =>
    ObjectClient.connect(context, `client-${index}`, keepAliveSeconds);
  return await Promise.all(Array.from({ length: count }, connecting));
}

function acknowledge(receiver: ObjectClient, index: number): void {
  const packetId = receiver.published[index]?.packetId;
  if (packetId !== undefined) receiver.send({ type: 'puback', packetId, reasonCode: 0, properties: {} });
}

async function answersPing(client: ObjectClient): Promise<boolean> {
  try {
    await client.ping();
    return true;
  } catch (error) {
    if (error instanceof ProbeError) return false;
    throw error;
  }
}

/** In whole milliseconds, the shortest first. */
async function timesOf(work: (number: number) => Promise<void>): Promise<readonly number[]> {
  const times: number[] = [];
  for (let number = 0; number < WRITES; number += 1) {
    const startedAtMs = performance.now();
    await work(number);
    times.push(Math.round(performance.now() - startedAtMs));
  }
  return times.sort((a, b) => a - b);
}

function median(times: readonly number[]): number {
  return times[Math.floor(times.length / 2)] ?? 0;
}
