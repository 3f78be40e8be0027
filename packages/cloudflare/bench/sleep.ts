import { setTimeout } from 'node:timers/promises';
import { PING_APART_MS_MIN } from '../src/limits.ts';
import { type ObjectBroker, startObjectBroker } from './brokers.ts';
import { BenchClient, bytesOf } from './client.ts';

const PINGREQ = bytesOf({ cmd: 'pingreq' });
const publishTo = (topic: string) => bytesOf({ cmd: 'publish', topic, payload: 'x', qos: 1, messageId: 1 });
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

/** Ms of processor time until an object that has lost its memory has answered, by the round. */
export interface WakeUps {
  /** A PUBLISH at QoS 1, for which the hub reads everything. */
  readonly publish: readonly number[];
  readonly ping: readonly number[];
}

export async function wakeUp(sessions: number, rounds: number): Promise<WakeUps> {
  const { broker, client } = await filled(sessions);
  const found = { publish: [] as number[], ping: [] as number[] };
  for (let round = -WARM_UPS; round < rounds; round += 1) {
    const publish = await wake(broker, client, publishTo('bench/nobody'));
    await setTimeout(PING_APART_MS_MIN);
    const ping = await wake(broker, client, PINGREQ);
    if (round < 0) continue;
    found.publish.push(publish);
    found.ping.push(ping);
  }
  await broker.stop();
  return found;
}

/** The functions that take the time of a wake-up. */
export async function profiledWakeUp(sessions: number, rounds: number): Promise<readonly string[]> {
  const { broker, client } = await filled(sessions, true);
  const found = await broker.profile(async () => {
    for (let round = 0; round < rounds; round += 1) await wake(broker, client, publishTo('bench/nobody'));
  });
  await broker.stop();
  return found;
}

async function wake(broker: ObjectBroker, client: BenchClient, packet: Uint8Array): Promise<number> {
  await broker.hibernate();
  const before = broker.cpuUs();
  await client.answered(packet);
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
