import { describe, expect, test } from 'vitest';
import { disconnect, Harness, type Packet, puback, publish, subscribe } from './support/harness.ts';

const connack = { cmd: 'connack', returnCode: 0, sessionPresent: false } as const;
const suback: Packet = { cmd: 'suback', messageId: 1, granted: [1] };

describe('packets that are held back (4)', () => {
  test('wait for CONNACK', async () => {
    const harness = new Harness();
    await harness.open();
    await harness.push(publish('early'));
    expect(harness.topics).toEqual([]);
    await harness.reply([connack]);
    expect(harness.topics).toEqual(['connack', 'early']);
  });

  test('wait behind the reply to a SUBSCRIBE, also if it leaves together with others', async () => {
    const harness = new Harness();
    await harness.connect();
    await harness.write(publish('p'), subscribe('a'));
    await harness.push(publish('live'));
    expect(harness.topics).toEqual([]);
    await harness.reply([suback, publish('retained')]);
    expect(harness.topics).toEqual(['suback', 'retained', 'live']);
  });

  test('do not wait behind other frames', async () => {
    const harness = new Harness();
    await harness.connect();
    await harness.write(publish('p', 1, 1));
    await harness.push(publish('live'));
    expect(harness.topics).toEqual(['live']);
  });

  test('wait again behind a SUBSCRIBE that the server did not take', async () => {
    const harness = new Harness();
    await harness.connect();
    await harness.write(subscribe('a'));
    await harness.push(publish('1'));
    await harness.reply([], { taken: 0 });
    await harness.push(publish('2'));
    expect(harness.topics).toEqual(['1']);
    await harness.reply([suback]);
    expect(harness.topics).toEqual(['1', 'suback', '2']);
  });

  test('wait for the last of the messages that the server has, which are fetched', async () => {
    const harness = new Harness();
    await harness.open({ clean: false });
    await harness.reply([connack, publish('q1')], { more: true });
    expect(harness.sent).toEqual(['connect', 'fetch']);
    await harness.push(publish('live'));
    await harness.reply([publish('q2')], { more: true });
    expect(harness.sent).toEqual(['connect', 'fetch', 'fetch']);
    await harness.reply([publish('q3')]);
    expect(harness.topics).toEqual(['connack', 'q1', 'q2', 'q3', 'live']);
    expect(harness.sent).toHaveLength(3);
  });

  test('are fetched by a frame of packets too', async () => {
    const harness = new Harness();
    await harness.open({ clean: false });
    await harness.write(publish('p'));
    await harness.reply([connack], { more: true });
    expect(harness.sent).toEqual(['connect', 'p']);
    await harness.reply([publish('q1')], { more: true });
    expect(harness.sent).toEqual(['connect', 'p', 'fetch']);
  });

  test('are fetched at once after a nudge, with the acknowledgements that wait', async () => {
    const harness = new Harness();
    await harness.connect({ clean: false });
    await harness.write(puback(1));
    await harness.say('?');
    expect(harness.sent).toEqual(['puback']);
    expect(harness.gateway.frames.at(-1)?.replyWanted).toBe(true);
    await harness.reply([publish('q1')]);
    expect(harness.topics).toEqual(['q1']);
    expect(harness.sent).toHaveLength(1);
  });

  test('are fetched once after a nudge, behind the outstanding reply and before further packets', async () => {
    const harness = new Harness();
    await harness.connect({ clean: false });
    await harness.write(publish('p', 1, 1));
    await harness.say('?');
    await harness.say('?');
    await harness.write(publish('r', 1, 2));
    expect(harness.sent).toEqual(['p']);
    await harness.reply();
    expect(harness.sent).toEqual(['p', 'fetch']);
    await harness.reply([publish('q1')]);
    expect(harness.sent).toEqual(['p', 'fetch', 'r']);
    await harness.reply();
    expect(harness.sent).toHaveLength(3);
  });

  test('are fetched by a frame that carries acknowledgements', async () => {
    const harness = new Harness();
    await harness.connect({ clean: false });
    await harness.write(publish('p'));
    await harness.write(puback(1));
    await harness.reply([], { more: true });
    expect(harness.sent).toEqual(['p', 'puback']);
    expect(harness.gateway.frames.at(-1)?.replyWanted).toBe(true);
  });

  test('are fetched ever more slowly while fetches are empty, until there is a packet to acknowledge', async () => {
    const harness = new Harness();
    await harness.connect({ clean: false });
    await harness.write(publish('p'));
    await harness.reply([], { more: true });
    for (const waitMs of [100, 200, 400]) {
      await harness.reply([], { more: true });
      const before = harness.sent.length;
      await harness.clock.advance(waitMs - 1);
      expect(harness.sent).toHaveLength(before);
      await harness.clock.advance(1);
      expect(harness.sent).toHaveLength(before + 1);
    }
    await harness.reply([], { more: true });
    await harness.write(puback(1));
    expect(harness.sent.at(-1)).toBe('puback');
  });

  test('are handed over when a fetch is empty: the server may wait for their acknowledgement', async () => {
    const harness = new Harness();
    await harness.connect({ clean: false });
    await harness.write(publish('p'));
    await harness.reply([publish('q1')], { more: true });
    await harness.push(publish('q2', 1, 2));
    expect(harness.topics).toEqual(['q1']);
    await harness.reply([], { more: true });
    expect(harness.topics).toEqual(['q1', 'q2']);
    await harness.push(publish('q3', 1, 3));
    expect(harness.topics).toEqual(['q1', 'q2']);
    await harness.write(puback(2));
    await harness.reply([]);
    expect(harness.topics).toEqual(['q1', 'q2', 'q3']);
  });

  test('may be a thousand; one more ends the connection', async () => {
    const harness = new Harness();
    await harness.open();
    for (let count = 0; count < 1_000; count += 1) harness.gateway.say('MAUAAWFoaQ==');
    await harness.clock.runDue();
    expect(harness.errors).toEqual([]);
    await harness.push(publish('a'));
    expect(harness.errors).toEqual(['too-much-waiting']);
    expect(harness.gateway.closedWith).toEqual({ code: 4000, reason: 'too-much-waiting' });
    expect(harness.closes).toEqual([{ code: 4000, reason: 'too-much-waiting' }]);
  });

  test('may be 4 MiB; one more ends the connection', async () => {
    const harness = new Harness();
    await harness.open();
    const quarter = publish('a', 0, 0, Buffer.alloc(65_536 - 7));
    for (let count = 0; count < 64; count += 1) await harness.push(quarter);
    expect(harness.errors).toEqual([]);
    await harness.push(publish('a'));
    expect(harness.errors).toEqual(['too-much-waiting']);
  });

  test('do not count once they are handed over', async () => {
    const harness = new Harness();
    await harness.connect();
    const large = publish('a', 0, 0, Buffer.alloc(90_000));
    for (let round = 0; round < 2; round += 1) {
      await harness.write(subscribe('a'));
      for (let count = 0; count < 30; count += 1) await harness.push(large);
      await harness.reply([suback]);
    }
    expect(harness.errors).toEqual([]);
    expect(harness.topics).toHaveLength(62);
  });

  test('are bounded as well if the library does not take them', async () => {
    const harness = new Harness();
    await harness.connect();
    harness.socket.pause();
    const quarter = publish('a', 0, 0, Buffer.alloc(65_536 - 7));
    for (let count = 0; count < 64; count += 1) await harness.push(quarter);
    expect(harness.errors).toEqual([]);
    await harness.push(publish('a'));
    expect(harness.errors).toEqual(['too-much-waiting']);
  });

  test('stay while the library is paused, and nothing is fetched for it', async () => {
    const harness = new Harness();
    await harness.connect({ clean: false });
    await harness.write(publish('p'));
    harness.socket.pause();
    expect(harness.socket.isPaused).toBe(true);
    await harness.reply([publish('q1')], { more: true });
    expect(harness.topics).toEqual([]);
    expect(harness.sent).toEqual(['p']);
    harness.socket.resume();
    await harness.clock.runDue();
    expect(harness.topics).toEqual(['q1']);
    expect(harness.sent).toEqual(['p', 'fetch']);
  });
});

describe('packets that wait when the connection ends', () => {
  test('are handed over: they will not come again', async () => {
    const harness = new Harness();
    await harness.connect();
    await harness.write(subscribe('a'));
    await harness.push(publish('live'));
    harness.gateway.end(1001);
    await harness.clock.runDue();
    expect(harness.topics).toEqual(['live']);
    expect(harness.closes).toEqual([{ code: 1001, reason: '' }]);
  });

  test('are dropped if an older queue has not come yet; but a DISCONNECT is handed over', async () => {
    const harness = new Harness();
    await harness.connect({ clean: false }, 5);
    await harness.write(publish('p'));
    await harness.reply([publish('q1')], { more: true });
    await harness.push(publish('live', 1, 9), { ...disconnect, reasonCode: 0x8e } as never);
    harness.gateway.end(1000);
    await harness.clock.runDue();
    expect(harness.topics).toEqual(['q1', 'disconnect']);
  });

  test('are handed to a library that is paused', async () => {
    const harness = new Harness();
    await harness.connect();
    harness.socket.pause();
    await harness.push(publish('live'));
    harness.gateway.end(1001);
    await harness.clock.runDue();
    expect(harness.topics).toEqual(['live']);
  });

  test('are followed by the DISCONNECT of the server, and nothing after it', async () => {
    const harness = new Harness();
    await harness.connect({}, 5);
    await harness.write(subscribe('a'));
    await harness.push({ ...disconnect, reasonCode: 0x8e } as never);
    await harness.push(publish('after the end'));
    await harness.reply([suback]);
    expect(harness.topics).toEqual(['suback', 'disconnect']);
  });

  test('are dropped if CONNACK never came', async () => {
    const harness = new Harness();
    await harness.open();
    await harness.push(publish('live'));
    harness.gateway.end(1001);
    await harness.clock.runDue();
    expect(harness.topics).toEqual([]);
  });

  test('are not handed to a library that has ended the connection itself', async () => {
    const harness = new Harness();
    await harness.connect();
    await harness.write(subscribe('a'));
    await harness.push(publish('live'));
    harness.socket.terminate();
    await harness.clock.runDue();
    expect(harness.topics).toEqual([]);
  });
});
