import { expect, it } from 'vitest';
import { Program } from './program.ts';
import { VirtualStage } from './virtual-stage.ts';

const stage = new VirtualStage(7);

function program(name: string, protocolVersion: 4 | 5): Program {
  const made = new Program(stage.world.emulator, name, { protocolVersion });
  stage.programs.push(made);
  return made;
}

const RETAINED = Array.from({ length: 60 }, (_, index) => `big/${index}`);

/** The item of the connection would exceed 400 KB: it has the filters whose retained messages have not been sent. */
it('a client that subscribes to many long filters, while it is sent a megabyte of retained messages, has them all', async () => {
  await stage.start();
  const publisher = program('publisher', 5);
  await stage.seconds(2);
  for (const topic of RETAINED)
    publisher.mqtt.publish(topic, Buffer.alloc(20_000, 'x'), { qos: 1, retain: true });
  await stage.seconds(30);
  const reader = program('reader', 4);
  await stage.seconds(2);
  const filters = Array.from({ length: 600 }, (_, index) => `${index}/`.padEnd(800, 'y'));
  const granted = reader.mqtt.subscribeAsync(['big/#', ...filters], { qos: 0 });
  const codes = (await stage.time.during(granted, 300_000)).map(({ qos }) => qos);
  expect(codes).toEqual(Array(601).fill(0));
  await stage.seconds(30);
  publisher.mqtt.publish(filters.at(-1) ?? '', 'last', { qos: 1 });
  await stage.seconds(5);
  expect(reader.of('big/59')).toHaveLength(1);
  expect(reader.received).toHaveLength(RETAINED.length + 1);
  expect(reader.noticed).toEqual(['connect']);
  expect(reader.told('error')).toBe(0);
}, 120_000);

/** Positions of ninety topics of 1,500 bytes exceed a reply: the client was cut at each attempt, and came back. */
it('a reader whose SUBACK cannot hold the positions of its topics is refused with a reason, and is live without the past', async () => {
  await stage.start({ streams: [{ name: 's', topicFilter: 's/#' }] });
  const [publisher, reader] = [program('publisher', 5), program('reader', 5)];
  await stage.seconds(2);
  const topics = Array.from({ length: 90 }, (_, index) => `s/${index}/`.padEnd(1_500, 'x'));
  for (const topic of topics) publisher.mqtt.publish(topic, 'past', { qos: 1 });
  await stage.seconds(30);
  const subscribing = (userProperties: Record<string, string>) =>
    stage.time.during(
      reader.mqtt.subscribeAsync('s/#', { qos: 0, properties: { userProperties } }).catch(String),
    );
  expect(await subscribing({ rewind: '5' })).toContain('Quota exceeded');
  expect(await subscribing({ 'stream-offset': 'latest' })).toMatchObject([{ qos: 0 }]);
  publisher.mqtt.publish(topics[7] ?? '', 'live', { qos: 1 });
  await stage.seconds(5);
  expect(reader.of(topics[7] ?? '')).toEqual(['live']);
  expect(reader.noticed).toEqual(['connect']);
}, 120_000);
