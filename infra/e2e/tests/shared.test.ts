import { expect, it } from 'vitest';
import { connectClient, unique } from '../support/client.ts';

const MEMBERS = 3;
const COUNT = 60;

it('each message goes to one member of a share group', async () => {
  const topic = unique('work');
  const members = await Promise.all(Array.from({ length: MEMBERS }, () => connectClient()));
  for (const member of members) await member.mqtt.subscribeAsync(`$share/group/${topic}`, { qos: 1 });
  const publisher = await connectClient();
  const everything = new Promise<void>((resolve) => {
    for (const member of members) {
      member.mqtt.on('message', () => {
        if (members.reduce((sum, { received }) => sum + received.length, 0) >= COUNT) resolve();
      });
    }
  });
  const texts = Array.from({ length: COUNT }, (_, index) => String(index));
  await Promise.all(texts.map((text) => publisher.mqtt.publishAsync(topic, text, { qos: 1 })));
  await everything;
  const received = members.flatMap((member) => member.received.map(({ text }) => text));
  expect(received.sort((a, b) => Number(a) - Number(b))).toEqual(texts);
  expect(members.filter(({ received: own }) => own.length > 0).length).toBeGreaterThan(1);
});
