import type { Broker } from './brokers.ts';
import { BenchClient, bytesOf, PACKET } from './client.ts';

const PAYLOAD = Buffer.alloc(200, 'p');
const RECEIVERS = 500;
const MESSAGES = 200;
const PAIRS = 20;
const MESSAGES_OF_PAIR = 1_000;

/** Us of processor time of the broker for a delivery: each message goes to all before the next. */
export async function fanOut(broker: Broker): Promise<number> {
  const receivers: BenchClient[] = [];
  for (let left = RECEIVERS; left > 0; left -= 1) {
    const receiver = await BenchClient.connect(broker.url);
    await receiver.subscribe('bench/all', 0);
    receivers.push(receiver);
  }
  const publisher = await BenchClient.connect(broker.url);
  const message = bytesOf({ cmd: 'publish', topic: 'bench/all', payload: PAYLOAD, qos: 0 });
  let left = 0;
  let done = () => {};
  for (const receiver of receivers)
    receiver.onPacket = () => {
      left -= 1;
      if (left === 0) done();
    };
  const before = broker.cpuUs();
  for (let number = 0; number < MESSAGES; number += 1) {
    left = RECEIVERS;
    const received = new Promise<void>((resolve) => {
      done = resolve;
    });
    publisher.send(message);
    await received;
  }
  const us = (broker.cpuUs() - before) / (MESSAGES * RECEIVERS);
  await Promise.all([publisher, ...receivers].map((client) => client.close()));
  return us;
}

/** Us of processor time of the broker for a message: PUBLISH and PUBACK, twice. Pairs work beside one another. */
export async function oneToOne(broker: Broker): Promise<number> {
  const pairs: (readonly [publisher: BenchClient, receiver: BenchClient])[] = [];
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const receiver = await BenchClient.connect(broker.url);
    await receiver.subscribe(`bench/pair-${pair}`, 1);
    pairs.push([await BenchClient.connect(broker.url), receiver]);
  }
  const before = broker.cpuUs();
  await Promise.all(pairs.map(([publisher, receiver], pair) => exchange(publisher, receiver, pair)));
  const us = (broker.cpuUs() - before) / (PAIRS * MESSAGES_OF_PAIR);
  await Promise.all(pairs.flat().map((client) => client.close()));
  return us;
}

/** The next message follows when the publisher has its PUBACK and the receiver the message. */
function exchange(publisher: BenchClient, receiver: BenchClient, pair: number): Promise<void> {
  const topic = `bench/pair-${pair}`;
  const message = bytesOf({ cmd: 'publish', topic, payload: PAYLOAD, qos: 1, messageId: 1 });
  return new Promise((resolve) => {
    let left = MESSAGES_OF_PAIR;
    let waits = 0;
    const next = () => {
      waits -= 1;
      if (waits > 0) return;
      if (left === 0) return resolve();
      left -= 1;
      waits = 2;
      publisher.send(message);
    };
    publisher.onPacket = next;
    receiver.onPacket = (type, packetId) => {
      if (type !== PACKET.publish) return;
      receiver.send(Buffer.from([PACKET.puback << 4, 2, packetId >> 8, packetId & 255]));
      next();
    };
    next();
  });
}
