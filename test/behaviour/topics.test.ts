import { ReasonCode } from '@apus/mqtt';
import { describe, expect, test } from 'vitest';
import { unique } from '../support/unique.ts';
import { NO_PROPERTIES, packet, text, u16 } from './util/bytes.ts';
import { NEEDS_OWN_DOOR, useDoor, withOptions } from './util/door-fixture.ts';
import type { Message, TestClient } from './util/test-client.ts';

const { TopicFilterInvalid, TopicNameInvalid } = ReasonCode;

describe('A filter matches topic names', () => {
  const door = useDoor();

  /** Filter, the names it matches, the names it does not. `~` stands for a level of the test's own. */
  const TABLE: readonly [what: string, filter: string, matching: string[], others: string[]][] = [
    [
      'its own name only [MQTT-4.7.3-4]',
      '~/a/b',
      ['~/a/b'],
      ['~/a', '~/a/b/c', '~/a/B', '~/A/b', '/~/a/b', '~/a/b/'],
    ],
    [
      '# any number of levels, also none [MQTT-4.7.1-1]',
      '~/a/#',
      ['~/a', '~/a/', '~/a/b', '~/a/b/c'],
      ['~', '~/b', '~/ab'],
    ],
    ['+ one level, also an empty one [MQTT-4.7.1-2]', '~/+', ['~/a', '~/'], ['~', '~/a/b', '/~/a']],
    ['+ in the middle [MQTT-4.7.1-2]', '~/+/c', ['~/a/c', '~/b/c', '~//c'], ['~/a/b/c', '~/c', '~/a/c/']],
    ['+ several times [MQTT-4.7.1-2]', '~/+/+/d', ['~/b/c/d', '~///d'], ['~/b/d', '~/b/c/d/e']],
    ['+ and # together [MQTT-4.7.1-1] [MQTT-4.7.1-2]', '~/+/b/#', ['~/a/b', '~/a/b/c/d'], ['~/b', '~/a/c/b']],
    ['+ at the beginning [MQTT-4.7.1-2]', '+/~/a', ['x/~/a', '/~/a'], ['~/a', 'x/y/~/a']],
    ['a leading slash makes another name [MQTT-4.7.3-4]', '/~', ['/~'], ['~', '//~']],
    ['a trailing slash makes another name [MQTT-4.7.3-4]', '~/', ['~/'], ['~', '~//']],
    ['a name of a slash more', '/~/+', ['/~/', '/~/a'], ['/~', '~/a']],
    ['spaces count [MQTT-4.7.3-4]', '~/a b', ['~/a b'], ['~/ab', '~/a  b', '~/a b ', ' ~/a b']],
    ['case counts [MQTT-4.7.3-4]', '~/ACCOUNTS', ['~/ACCOUNTS'], ['~/Accounts', '~/accounts']],
    [
      'é is not e with an accent: nothing is normalised [MQTT-4.7.3-4]',
      '~/\u00e9',
      ['~/\u00e9'],
      ['~/e\u0301', '~/e'],
    ],
    [
      'ligatures and full-width letters stay what they are [MQTT-4.7.3-4]',
      '~/\ufb01',
      ['~/\ufb01'],
      ['~/fi', '~/\uff46\uff49'],
    ],
    ['characters outside the Basic Multilingual Plane [MQTT-4.7.3-4]', '~/𝄞/+', ['~/𝄞/𝄢'], ['~/𝄢/x']],
    ['U+FEFF is a character [MQTT-1.5.4-3]', '~/\ufeffa', ['~/\ufeffa'], ['~/a']],
    ['. and * and .. mean nothing [MQTT-4.7.3-4]', '~/.*/..', ['~/.*/..'], ['~/a/..', '~', '~/.*/']],
    ['$ inside a name means nothing [MQTT-4.7.2-1]', '~/+/x', ['~/$a/x', '~/a/x'], []],
  ];

  for (const [what, filter, matching, others] of TABLE) {
    test(`${what}: ${JSON.stringify(filter)}`, async () => {
      const level = unique('t');
      const fill = (template: string) => template.replaceAll('~', level);
      const subscriber = await door.connect();
      expect(await subscriber.subscribe(fill(filter))).toEqual([0]);
      const publisher = await door.connect();
      for (const name of [...others, ...matching].map(fill)) await publisher.publish(name, 'x');
      const received = (await subscriber.receiveMany(matching.length)).map(({ topic }) => topic);
      expect(received).toEqual(matching.map(fill));
      await subscriber.expectNothing();
    });
  }

  test('of 65,535 bytes, the longest there is [MQTT-4.7.3-3]', async () => {
    const name = unique('é').padEnd(65_535 - 1, 'x');
    expect(Buffer.byteLength(name)).toBe(65_535);
    const subscriber = await door.connect();
    await subscriber.subscribe(name);
    await (await door.connect()).publish(name, 'x');
    expect((await subscriber.receive()).topic).toBe(name);
  });
});

describe('A topic name beginning with $', () => {
  const door = useDoor();

  /** The next message with this level in its name: a filter like # sees what other tests publish, too. */
  async function receiveAbout(client: TestClient, level: string): Promise<Message> {
    for (;;) {
      const message = await client.receive();
      if (message.topic.includes(level)) return message;
    }
  }

  for (const [what, filter] of [
    ['#', '#'],
    ['+/…', '+/~'],
    ['+/#', '+/#'],
  ] as const) {
    test(`is not matched by ${what} [MQTT-4.7.2-1] [MQTT3-4.7.2-1]`, async () => {
      const level = unique('t');
      const clients = [await door.connect(), await door.connect311()];
      for (const client of clients) await client.subscribe(filter.replace('~', level));
      const publisher = await door.connect();
      await publisher.publish(`$apus-test/${level}`, 'hidden');
      await publisher.publish(`apus-test/${level}`, 'seen');
      for (const client of clients)
        expect(await receiveAbout(client, level)).toMatchObject({ payload: 'seen' });
    });
  }

  test('is matched by a filter that begins with the same level [MQTT-4.7.2-1]', async () => {
    const level = unique('t');
    const subscriber = await door.connect();
    await subscriber.subscribe([`$apus-test/${level}/+`, `$apus-test/${level}/a/#`]);
    await (await door.connect()).publish(`$apus-test/${level}/b`, 'seen');
    expect(await subscriber.receive()).toMatchObject({ topic: `$apus-test/${level}/b`, payload: 'seen' });
  });
});

describe('An invalid filter', () => {
  const door = useDoor();

  for (const [what, filter] of [
    ['# that is not last [MQTT-4.7.1-1]', 'a/#/b'],
    ['# beside other characters [MQTT-4.7.1-1]', 'a/b#'],
    ['# before other characters [MQTT-4.7.1-1]', '#a'],
    ['two # [MQTT-4.7.1-1]', 'a/##'],
    ['+ beside other characters [MQTT-4.7.1-2]', 'a+'],
    ['+ before other characters [MQTT-4.7.1-2]', 'a/+b/c'],
    ['two + in one level [MQTT-4.7.1-2]', 'a/++'],
    ['no character at all [MQTT-4.7.3-1]', ''],
  ] as const) {
    test(`with ${what} gets 0x8F`, async () => {
      const client = await door.connect();
      expect(await client.subscribe([filter, unique('t')])).toEqual([TopicFilterInvalid, 0]);
    });

    test(`with ${what.replaceAll('[MQTT-4.7.1-1]', '[MQTT3-4.7.1-2]').replaceAll('[MQTT-4.7.1-2]', '[MQTT3-4.7.1-3]').replaceAll('[MQTT-4.7.3-1]', '[MQTT3-4.7.3-1]')} gets 0x80 in MQTT 3.1.1`, async () => {
      const client = await door.connect311();
      expect(await client.subscribe([filter, unique('t')])).toEqual([0x80, 0]);
    });
  }
});

describe(withOptions('Topics with many levels'), NEEDS_OWN_DOOR, () => {
  const door = useDoor({ topicLevelsMax: 4 });

  test('are taken up to the limit', async () => {
    const client = await door.connect();
    expect(await client.subscribe(['a/b/c/#', 'a/+/c/d'], { qos: 1 })).toEqual([1, 1]);
    await client.publish('a/b/c/d', 'x');
    expect(await client.receive()).toMatchObject({ topic: 'a/b/c/d' });
  });

  test('are refused beyond it in a filter: 0x8F', async () => {
    const client = await door.connect();
    const codes = await client.subscribe(['a/b/c/d/#', '////', '///'], { qos: 1 });
    expect(codes).toEqual([TopicFilterInvalid, TopicFilterInvalid, 1]);
  });

  for (const [qos, firstByte] of [
    [0, 0x30],
    [1, 0x32],
    [2, 0x34],
  ] as const) {
    test(`are refused beyond it in a topic name at QoS ${qos}: the connection is closed with 0x90`, async () => {
      const client = await door.connect();
      const packetId = qos === 0 ? Buffer.alloc(0) : u16(1);
      client.raw.sendBytes(packet(firstByte, text('a/b/c/d/e'), packetId, NO_PROPERTIES));
      await client.expectRefused(TopicNameInvalid);
    });
  }
});
