import { expect, it } from 'vitest';
import { connectClient, USER, unique } from '../support/client.ts';

const WEEK_SECONDS = 7 * 24 * 60 * 60;
const MISSED = 30;

it('a session that outlives its connection gets the missed messages, in order, and then new ones', async () => {
  const clientId = unique(`${USER}-kept`);
  const topic = unique('topic');
  const options = { clientId, clean: false, properties: { sessionExpiryInterval: WEEK_SECONDS } };
  const first = await connectClient(options);
  expect(first.connack.sessionPresent).toBe(false);
  await first.mqtt.subscribeAsync(topic, { qos: 1 });
  await first.end();

  const publisher = await connectClient();
  const texts = Array.from({ length: MISSED }, (_, index) => String(index));
  for (const text of texts) await publisher.mqtt.publishAsync(topic, text, { qos: 1 });

  const second = await connectClient(options);
  expect(second.connack.sessionPresent).toBe(true);
  expect(await second.texts(MISSED)).toEqual(texts);
  await publisher.mqtt.publishAsync(topic, 'live', { qos: 1 });
  expect((await second.texts(MISSED + 1)).at(-1)).toBe('live');
});

it('clean start discards the session', async () => {
  const clientId = unique(`${USER}-forgotten`);
  const topic = unique('topic');
  const kept = { clientId, clean: false, properties: { sessionExpiryInterval: WEEK_SECONDS } };
  const first = await connectClient(kept);
  await first.mqtt.subscribeAsync(topic, { qos: 1 });
  await first.end();
  const clean = await connectClient({ ...kept, clean: true });
  expect(clean.connack.sessionPresent).toBe(false);
  await clean.end();
  const publisher = await connectClient();
  await publisher.mqtt.publishAsync(topic, 'unwanted', { qos: 1 });
  const last = await connectClient(kept);
  await last.mqtt.subscribeAsync(`${topic}/end`, { qos: 1 });
  await publisher.mqtt.publishAsync(`${topic}/end`, 'end', { qos: 1 });
  expect(await last.texts(1)).toEqual(['end']);
});
