import { describe, expect, test } from 'vitest';
import { Harness, type Packet, puback, publish, subscribe } from './support/harness.ts';

const connack = { cmd: 'connack', returnCode: 0, sessionPresent: true } as const;

/** A session that acknowledges, with a frame outstanding that wants a reply. */
async function waiting(): Promise<Harness> {
  const harness = new Harness();
  await harness.connect({ clean: false });
  await harness.write(publish('p', 1, 1));
  return harness;
}

describe('a reply in parts (2)', () => {
  test('comes first, and its parts behind it, when they were sent before', async () => {
    const harness = await waiting();
    await harness.part(publish('m3'));
    await harness.part(publish('m4'), publish('m5'));
    expect(harness.topics).toEqual([]);
    await harness.reply([puback(1), publish('m1'), publish('m2')], { parts: 2 });
    expect(harness.topics).toEqual(['puback', 'm1', 'm2', 'm3', 'm4', 'm5']);
  });

  test('waits for the parts that have not come', async () => {
    const harness = await waiting();
    await harness.part(publish('m2'));
    await harness.reply([publish('m1')], { parts: 2 });
    expect(harness.topics).toEqual([]);
    await harness.part(publish('m3'));
    expect(harness.topics).toEqual(['m1', 'm2', 'm3']);
  });

  test('is behind what a page before has brought, and before the next page', async () => {
    const harness = new Harness();
    await harness.open({ clean: false });
    await harness.part(publish('large'));
    await harness.reply([connack, publish('q1')], { more: true, parts: 1 });
    expect(harness.sent).toEqual(['connect', 'fetch']);
    expect(harness.topics).toEqual(['connack', 'q1', 'large']);
    await harness.reply([publish('q2')]);
    expect(harness.topics).toEqual(['connack', 'q1', 'large', 'q2']);
  });

  test('is outstanding until it is whole: the next frame waits, and so do pushes', async () => {
    const harness = await waiting();
    await harness.part(publish('m2'));
    await harness.push(publish('live'));
    await harness.reply([publish('m1')], { parts: 2 });
    await harness.write(publish('next'));
    await harness.push(publish('live too'));
    expect(harness.sent).toEqual(['p']);
    await harness.part(publish('m3'));
    expect(harness.topics).toEqual(['m1', 'm2', 'm3', 'live', 'live too']);
    expect(harness.sent).toEqual(['p', 'next']);
  });

  test('to a SUBSCRIBE lets pushes go behind its last part', async () => {
    const harness = new Harness();
    await harness.connect();
    await harness.write(subscribe('a'));
    await harness.push(publish('live'));
    await harness.part(publish('retained large'));
    const suback: Packet = { cmd: 'suback', messageId: 1, granted: [1] };
    await harness.reply([suback, publish('retained')], { parts: 1 });
    expect(harness.topics).toEqual(['suback', 'retained', 'retained large', 'live']);
  });

  test('that never becomes whole is of unknown fate, and nothing of it is handed over', async () => {
    const harness = await waiting();
    await harness.part(publish('m2'));
    await harness.reply([publish('m1')], { parts: 2 });
    await harness.clock.advance(8_000);
    expect(harness.errors).toEqual(['no-reply']);
    expect(harness.topics).toEqual([]);
    expect(harness.closes).toHaveLength(1);
  });

  test.each([
    ['more parts than were announced', ['&MAMAAWE=', '&MAMAAWE=', '*1:']],
    ['a part behind a reply that has none', [':', '&MAMAAWE=']],
    ['half a packet in a part', ['&MAcAA2Ev', '*1:']],
    ['two replies before the first is whole', ['*1:', ':']],
  ])('%s: the connection is given up', async (_name, texts) => {
    const harness = await waiting();
    for (const text of texts) await harness.say(text);
    expect(harness.errors).toEqual(['unreadable-frame']);
  });

  test('4 MiB of parts may wait, one more ends the connection', async () => {
    const harness = await waiting();
    const large = publish('a', 0, 0, Buffer.alloc(90_000));
    for (let count = 0; count < 46; count += 1) await harness.part(large);
    expect(harness.errors).toEqual([]);
    await harness.part(large);
    expect(harness.errors).toEqual(['too-much-waiting']);
  });
});
