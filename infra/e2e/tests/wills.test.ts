import { expect, it } from 'vitest';
import { connectClient, USER, unique } from '../support/client.ts';

it('a lost client’s will is published, and that of one that sends DISCONNECT is not', async () => {
  const root = unique('wills');
  const watcher = await connectClient();
  await watcher.mqtt.subscribeAsync(`${root}/#`, { qos: 1 });
  const polite = await connectClient({
    will: { topic: `${root}/polite`, payload: Buffer.from('unwanted'), qos: 1 },
  });
  const lost = await connectClient({ will: { topic: `${root}/lost`, payload: Buffer.from('gone'), qos: 1 } });
  await polite.end();
  lost.cut();
  // The will of the client that disconnected would have been due before that of the lost one.
  expect(await watcher.messages(1)).toMatchObject([{ topic: `${root}/lost`, text: 'gone' }]);
});

it('a delayed will waits, and is not published if the client returns', async () => {
  const root = unique('delayed');
  const watcher = await connectClient();
  await watcher.mqtt.subscribeAsync(`${root}/#`, { qos: 1 });
  const will = (name: string, willDelayInterval: number) => ({
    will: {
      topic: `${root}/${name}`,
      payload: Buffer.from(name),
      qos: 1 as const,
      properties: { willDelayInterval },
    },
    properties: { sessionExpiryInterval: 600 },
    clean: false,
  });
  const clientId = unique(`${USER}-returns`);
  const returns = await connectClient({ clientId, ...will('returns', 7) });
  const late = await connectClient(will('late', 9));
  returns.cut();
  late.cut();
  await connectClient({ clientId, clean: false, properties: { sessionExpiryInterval: 600 } });
  expect(await watcher.messages(1)).toMatchObject([{ topic: `${root}/late`, text: 'late' }]);
});
