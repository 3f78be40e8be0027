import { rmSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { RawClient } from '../../../test/support/raw-client.ts';
import { needsWorkerd, newFolder, startWorkerd, type Workerd } from './object/start-workerd.ts';

const ROUNDS = 3;
const MESSAGES = 15;
const KEPT = { clean: false, properties: { sessionExpiryInterval: 3600 } };

const urlOf = ({ port }: Workerd) => `ws://127.0.0.1:${port}/hub/mqtt`;

/** Publishes at QoS 2, one after another. Adds a number when its PUBCOMP has come. */
async function publish(workerd: Workerd, from: number, done: number[]): Promise<void> {
  const { client } = await RawClient.connect(urlOf(workerd), { clientId: 'publisher' });
  for (let number = from; number < from + MESSAGES; number += 1) {
    const messageId = number + 1;
    client.send({
      cmd: 'publish',
      topic: 'k',
      payload: String(number),
      qos: 2,
      messageId,
      retain: false,
      dup: false,
    });
    await client.expect('pubrec');
    client.send({ cmd: 'pubrel', messageId });
    await client.expect('pubcomp');
    done.push(number);
  }
}

/** Everything that waits for the subscriber, acknowledged. */
async function received(workerd: Workerd): Promise<number[]> {
  const { client } = await RawClient.connect(urlOf(workerd), { clientId: 'subscriber', ...KEPT });
  const numbers: number[] = [];
  for (let isQuiet = false; !isQuiet; ) {
    isQuiet = true;
    client.send({ cmd: 'pingreq' });
    for (let packet = await client.next(); packet.cmd !== 'pingresp'; packet = await client.next()) {
      isQuiet = false;
      if (packet.cmd === 'publish') numbers.push(Number(packet.payload));
      const answer = packet.cmd === 'publish' ? 'pubrec' : 'pubcomp';
      client.send({ cmd: answer, messageId: packet.messageId as number });
    }
  }
  client.close();
  return numbers;
}

it(
  'loses nothing that it has acknowledged, and delivers nothing twice at QoS 2, when it is killed [MQTT-4.3.3-13]',
  needsWorkerd,
  async () => {
    const folder = newFolder();
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    let workerd = await startWorkerd(1, folder);
    onTestFinished(() => workerd.kill());
    const { client } = await RawClient.connect(urlOf(workerd), { clientId: 'subscriber', ...KEPT });
    client.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 'k', qos: 2 }] });
    await client.expect('suback');
    client.close();
    const done: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const from = round * 1_000;
      const publishing = publish(workerd, from, done).catch(() => {});
      await expect
        .poll(() => done.filter((number) => number >= from).length, { interval: 1 })
        .toBeGreaterThan(4);
      await workerd.kill();
      // A publisher whose PUBCOMP was cut waits for ever.
      await Promise.race([publishing, new Promise((resolve) => setTimeout(resolve, 50))]);
      workerd = await startWorkerd(1, folder);
    }
    const numbers = await received(workerd);
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(numbers).toEqual([...numbers].sort((one, other) => one - other));
    expect(numbers).toEqual(expect.arrayContaining(done));
  },
);
