import { clientFor } from '@apus/bridges/testing';
import type { QoS } from '@apus/mqtt';
import type { MqttClient } from 'mqtt';

/** Numbers that are published in their order to each of some topics. */
export interface Load {
  readonly prefix: string;
  readonly topics: readonly string[];
  readonly numbers: readonly number[];
  readonly count: number;
  readonly qos: QoS;
}

const COUNT = 400;

export const LOAD = {
  topics: ['a', 'b/c'],
  numbers: Array.from({ length: COUNT }, (_, index) => index),
  count: COUNT,
} as const;

/** Messages in flight at a time. */
const WINDOW = 20;

/** Publishes all numbers, and resolves when all are acknowledged. */
export async function publishAll(
  publisher: MqttClient,
  { prefix, topics, numbers, qos }: Load,
  sent: (count: number) => void,
): Promise<void> {
  let underWay: Promise<unknown>[] = [];
  for (const number of numbers) {
    for (const topic of topics)
      underWay.push(publisher.publishAsync(`${prefix}${topic}`, String(number), { qos }));
    sent(number + 1);
    if (underWay.length < WINDOW) continue;
    await Promise.all(underWay);
    underWay = [];
  }
  await Promise.all(underWay);
}

export interface Arrived {
  readonly topic: string;
  readonly number: number;
}

/** A client whose session outlives its connections, with all messages that it has received. */
export async function reader(url: string, filter: string): Promise<readonly Arrived[]> {
  const arrived: Arrived[] = [];
  const properties = { sessionExpiryInterval: 3600 };
  const client = await clientFor(url, { clientId: 'reader', clean: false, properties });
  client.on('message', (topic, payload) => arrived.push({ topic, number: Number(payload.toString()) }));
  await client.subscribeAsync(filter, { qos: 2 });
  return arrived;
}

/** The numbers of a topic, in the order in which each came first. Repetitions are left out. */
export function firstOf(arrived: readonly Arrived[], topic: string): readonly number[] {
  return [...new Set(arrived.filter((each) => each.topic === topic).map(({ number }) => number))];
}
