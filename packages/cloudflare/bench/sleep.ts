import { type ObjectBroker, startObjectBroker } from './brokers.ts';
import { BenchClient, bytesOf } from './client.ts';

const PINGREQ = bytesOf({ cmd: 'pingreq' });
/** Until the code is compiled. */
const WARM_UPS = 3;
/** Clients that connect at a time. */
const TOGETHER = 50;

/** A hub with so many kept sessions, a filter each, and a client. */
async function filled(sessions: number, isInspected = false) {
  const broker = await startObjectBroker(isInspected);
  await each(sessions, async (index) => {
    const client = await BenchClient.connect(broker.url, {
      clientId: `kept-${index}`,
      properties: { sessionExpiryInterval: 3_600 },
    });
    await client.subscribe(`bench/kept-${index}`, 1);
    await client.disconnect();
  });
  return { broker, client: await BenchClient.connect(broker.url) };
}

/** Ms of processor time until a PINGREQ is answered whose object has lost its memory, by the round. */
export async function wakeUp(sessions: number, rounds: number): Promise<readonly number[]> {
  const { broker, client } = await filled(sessions);
  const found: number[] = [];
  for (let round = -WARM_UPS; round < rounds; round += 1) {
    const ms = await wake(broker, client);
    if (round >= 0) found.push(ms);
  }
  await broker.stop();
  return found;
}

/** The functions that take the time of a wake-up. */
export async function profiledWakeUp(sessions: number, rounds: number): Promise<readonly string[]> {
  const { broker, client } = await filled(sessions, true);
  const found = await broker.profile(async () => {
    for (let round = 0; round < rounds; round += 1) await wake(broker, client);
  });
  await broker.stop();
  return found;
}

async function wake(broker: ObjectBroker, client: BenchClient): Promise<number> {
  await broker.hibernate();
  const before = broker.cpuUs();
  await client.answered(PINGREQ);
  return (broker.cpuUs() - before) / 1_000;
}

/** Bytes of heap of an object with so many clients, and of one with a single client. */
export async function heapOfSockets(sockets: number) {
  const broker = await startObjectBroker(true);
  await BenchClient.connect(broker.url);
  const emptyBytes = await broker.heapBytes();
  await each(sockets, async (index) => {
    const client = await BenchClient.connect(broker.url, { clientId: `client-${index}` });
    await client.subscribe(`bench/client-${index}`, 1);
  });
  const bytes = await broker.heapBytes();
  await broker.stop();
  return { emptyBytes, bytes };
}

async function each(count: number, run: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      next += 1;
      await run(next);
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, worker));
}
