import { describe, expect, test } from 'vitest';
import { disconnect, Harness, type Packet, puback, publish, subscribe } from './support/harness.ts';

const CONNACK = { cmd: 'connack', returnCode: 0, reasonCode: 0, sessionPresent: false } as const;

/** Its session ends with its connection. */
const EPHEMERAL = { clean: true } as const;
const PERSISTENT = { clean: true, properties: { sessionExpiryInterval: 3_600 } } as const;

/** A client of a server that lets it resume. */
async function resumable(
  connect: object = EPHEMERAL,
  move = '~a.T1,7200,60',
  options: ConstructorParameters<typeof Harness>[0] = {},
): Promise<Harness> {
  const harness = new Harness(options);
  await harness.open(connect, 5, 'mqtt-text-v1.1');
  await harness.say(`(nudge,move,resume,close)${move}:${harness.bytes([CONNACK]).toString('base64')}`);
  harness.received = [];
  harness.events.length = 0;
  return harness;
}

/** Ends the connection with this code, and opens the next one. */
async function lose(harness: Harness, code: number): Promise<void> {
  harness.gateway.end(code);
  await harness.clock.runDue();
  harness.gateway.open('mqtt-text-v1.1');
  await harness.clock.runDue();
}

/** The server resumes the session, and sends these packets. */
async function resumed(
  harness: Harness,
  packets: readonly Packet[] = [],
  more = false,
  gap = '',
): Promise<void> {
  const bytes = harness.bytes(packets).toString('base64');
  await harness.say(`~b.T2,7200,60${gap}${more ? ';' : ':'}${bytes}`);
}

const told = ({ events }: Harness) => events.map(({ type }) => type);
const gaps = ({ events }: Harness) => events.filter(({ type }) => type === 'gap');

describe('a connection that is lost (13)', () => {
  test('is resumed over another one: the library sees no disconnect', async () => {
    const harness = await resumable();
    await lose(harness, 1001);
    expect(harness.sockets).toHaveLength(2);
    expect(harness.gateway.lastText).toBe('~!a.T1');
    await resumed(harness, [publish('kept')]);
    await harness.push(publish('live'));
    expect(harness.topics).toEqual(['kept', 'live']);
    await harness.write(publish('mine', 1, 7));
    expect(harness.sent.at(-1)).toBe('mine');
    expect(harness.closes).toEqual([]);
    expect(told(harness)).toEqual(['resuming', 'resumed']);
  });

  test('is resumed again with the ticket of the connection before', async () => {
    const harness = await resumable();
    await lose(harness, 1001);
    await resumed(harness);
    await lose(harness, 1012);
    expect(harness.gateway.lastText).toBe('~!b.T2');
  });

  test('hands over pushes behind a reply that comes after them', async () => {
    const harness = await resumable();
    await lose(harness, 1001);
    await harness.push(publish('live'));
    expect(harness.topics).toEqual([]);
    await resumed(harness, [publish('kept')], true);
    expect(harness.topics).toEqual(['kept']);
    expect(harness.sent.at(-1)).toBe('fetch');
    await harness.reply([publish('more')]);
    expect(harness.topics).toEqual(['kept', 'more', 'live']);
  });

  test('hands over the parts of the reply behind it', async () => {
    const harness = await resumable();
    await lose(harness, 1001);
    await harness.part(publish('part'));
    await harness.push(publish('live'));
    await harness.say(`*1~b.T2,7200,60:${harness.bytes([publish('first')]).toString('base64')}`);
    expect(harness.topics).toEqual(['first', 'part', 'live']);
  });

  test.each([
    [1006, ''],
    [1001, ',g'],
  ])(
    'says that messages may be missing when it closed with %i, or the server says "%s"',
    async (code, gap) => {
      const harness = await resumable();
      await lose(harness, code);
      await resumed(harness, [], false, gap);
      expect(gaps(harness)).toEqual([{ type: 'gap', qos: 1, published: 0 }]);
    },
  );

  test('reports a gap only for QoS 0 if its session is persistent', async () => {
    const harness = await resumable(PERSISTENT);
    await lose(harness, 1006);
    await resumed(harness);
    expect(gaps(harness)).toEqual([{ type: 'gap', qos: 0, published: 0 }]);
  });

  test('is tried for a minute, with growing waits, and then given up: the library reconnects', async () => {
    const harness = await resumable();
    harness.gateway.end(1006);
    await harness.clock.runDue();
    const triedAt: number[] = [];
    const begun = harness.clock.now();
    for (let seconds = 0; seconds < 70 && harness.closes.length === 0; seconds += 1) {
      if (harness.sockets.length > triedAt.length + 1) triedAt.push(harness.clock.now() - begun);
      harness.gateway.end(1006);
      await harness.clock.advance(1_000);
    }
    expect(triedAt.slice(0, 4)).toEqual([0, 3_000, 8_000, 17_000]);
    expect(harness.closes).toEqual([{ code: 1006, reason: '' }]);
    expect(harness.clock.now() - begun).toBeLessThanOrEqual(60_000);
    expect(harness.options.reconnectPeriod).toBeGreaterThan(1_000);
  });

  test('is tried at once when the network is back', async () => {
    const listeners = new Map<string, () => void>();
    const window = {
      addEventListener: (type: string, listener: () => void) => void listeners.set(type, listener),
      removeEventListener: () => {},
    };
    const harness = await resumable(EPHEMERAL, undefined, { page: { window } });
    harness.gateway.end(1006);
    await harness.clock.runDue();
    harness.gateway.end(1006);
    await harness.clock.runDue();
    expect(harness.sockets).toHaveLength(2);
    listeners.get('online')?.();
    await harness.clock.runDue();
    expect(harness.sockets).toHaveLength(3);
  });

  test('is tried again when no reply comes', async () => {
    const harness = await resumable();
    await lose(harness, 1006);
    await harness.clock.advance(8_000);
    await harness.clock.advance(4_000);
    expect(harness.sockets).toHaveLength(3);
    harness.gateway.open('mqtt-text-v1.1');
    await harness.clock.runDue();
    expect(harness.gateway.lastText).toBe('~!a.T1');
    await resumed(harness);
    expect(told(harness)).toEqual(['resuming', 'resumed', 'gap']);
  });

  test('is given up at once when the server refuses', async () => {
    const harness = await resumable();
    await lose(harness, 1006);
    await harness.say('~!unknown:');
    expect(harness.closes).toEqual([{ code: 1006, reason: '' }]);
  });

  test.each([
    ['the server has not said how', '~a.T1,7200', 1006],
    ['it has switched it off', '~a.T1,7200,0', 1006],
    ['a frame was too large', '~a.T1,7200,60', 1009],
  ])('is not resumed where %s', async (_why, move, code) => {
    const harness = await resumable(EPHEMERAL, move);
    harness.gateway.end(code);
    await harness.clock.runDue();
    expect(harness.closes).toEqual([{ code, reason: '' }]);
  });

  test('is not resumed after DISCONNECT', async () => {
    const harness = await resumable();
    await harness.write(disconnect);
    harness.gateway.end(1006);
    await harness.clock.runDue();
    expect(harness.closes).toHaveLength(1);
    expect(harness.sockets).toHaveLength(1);
  });

  test('is given up when the program ends meanwhile', async () => {
    const harness = await resumable();
    harness.gateway.end(1006);
    await harness.clock.runDue();
    harness.gateway.end(1006);
    await harness.clock.runDue();
    await harness.write(disconnect);
    harness.socket.close();
    await harness.clock.runDue();
    expect(harness.closes).toEqual([{ code: 1006, reason: '' }]);
  });
});

describe('a connection on which no reply comes (13)', () => {
  test.each([
    ['after 8 seconds', async (harness: Harness) => await harness.clock.advance(8_000)],
    ['but an error of the gateway', async (harness: Harness) => await harness.say('{"message":"no"}')],
  ])('%s, is left for another one', async (_how, wait) => {
    const harness = await resumable();
    const [first] = harness.sockets;
    await harness.write(publish('a', 1, 7));
    await wait(harness);
    expect(first?.closedWith?.code).toBe(4000);
    harness.gateway.open('mqtt-text-v1.1');
    await harness.clock.runDue();
    await resumed(harness);
    expect(harness.errors).toEqual([]);
    // The transport ignores messages of the first connection from now on.
    first?.say(harness.bytes([publish('late')]).toString('base64'));
    first?.end(1006);
    await harness.clock.runDue();
    expect(harness.topics).toEqual([]);
    expect(gaps(harness)).toHaveLength(1);
  });
});

describe('packets of unknown fate when a connection is lost (13)', () => {
  test('are sent again with DUP at QoS 1 and 2, when every handler of the lost connection has ended', async () => {
    const harness = await resumable();
    await harness.write(publish('q1', 1, 7), publish('q2', 2, 8), { cmd: 'pubrel', messageId: 9 });
    await harness.write(publish('later', 1, 10));
    await lose(harness, 1001);
    await resumed(harness);
    expect(harness.sent).toEqual(['fetch', 'pubrel']);
    await harness.reply();
    await harness.clock.advance(5_000);
    expect(harness.sent.slice(2)).toEqual(['q1 q2 later']);
    const dups = harness.gateway.frames.at(-1)?.packets.map(([first = 0]) => (first & 8) !== 0);
    expect(dups).toEqual([true, true, false]);
    expect(gaps(harness)).toEqual([]);
  });

  test('are sent again at once and unchanged if they are SUBSCRIBE', async () => {
    const harness = await resumable();
    await harness.write(subscribe('a'));
    await lose(harness, 1001);
    await resumed(harness);
    expect(harness.sent).toEqual(['fetch', 'subscribe']);
  });

  test('are not sent again at QoS 0, and the program is told', async () => {
    const harness = await resumable();
    await harness.write(publish('a'), publish('b'));
    await lose(harness, 1001);
    await resumed(harness);
    await harness.clock.advance(6_000);
    expect(harness.sent).toEqual(['fetch']);
    expect(gaps(harness)).toEqual([{ type: 'gap', qos: undefined, published: 2 }]);
  });

  test('leave in their order with packets that were not sent', async () => {
    const harness = await resumable();
    harness.gateway.end(1001);
    await harness.write(publish('a', 1, 7));
    harness.gateway.open('mqtt-text-v1.1');
    await harness.clock.runDue();
    await resumed(harness);
    expect(harness.sent).toEqual(['fetch', 'a']);
  });
});

describe('a message that comes again because its acknowledgement was lost (13)', () => {
  const again = (messageId: number, topic = 'm'): Packet =>
    ({ ...publish(topic, 1, messageId), dup: true }) as Packet;

  test('is not handed over twice, and is acknowledged once more', async () => {
    const harness = await resumable(PERSISTENT);
    await harness.push(publish('m', 1, 5));
    await harness.write(puback(5));
    await harness.clock.advance(100);
    expect(harness.sent.at(-1)).toBe(',puback');
    await lose(harness, 1006);
    await resumed(harness, [again(5)]);
    expect(harness.topics).toEqual(['m']);
    await harness.clock.advance(100);
    expect(harness.sent.slice(1)).toEqual([',puback']);
  });

  test('is acknowledged once if the acknowledgement had not left', async () => {
    const harness = await resumable(PERSISTENT);
    await harness.push(publish('m', 1, 5));
    await harness.write(puback(5));
    await lose(harness, 1006);
    await resumed(harness, [again(5)]);
    await harness.clock.advance(100);
    expect(harness.sent.slice(1)).toEqual([',puback']);
  });

  test('is acknowledged by the library if that is still at work on it', async () => {
    const harness = await resumable(PERSISTENT);
    await harness.push(publish('m', 1, 5));
    await lose(harness, 1006);
    await resumed(harness, [again(5)]);
    await harness.clock.advance(100);
    expect(harness.sent.slice(1)).toEqual([]);
    await harness.write(puback(5));
    await harness.clock.advance(100);
    expect(harness.sent.slice(1)).toEqual([',puback']);
    expect(harness.topics).toEqual(['m']);
  });

  test('is handed over if it had not come before, also under a reused identifier', async () => {
    const harness = await resumable(PERSISTENT);
    await harness.push(publish('m', 1, 5));
    await harness.write(puback(5));
    await harness.push(publish('n', 1, 5));
    await lose(harness, 1006);
    await resumed(harness, [again(5, 'n'), again(6, 'o')]);
    expect(harness.topics).toEqual(['m', 'n', 'o']);
  });

  test('is a new message under its identifier if the connection was not lost, or all waiting messages have come', async () => {
    const harness = await resumable(PERSISTENT);
    await harness.push(publish('m', 1, 5));
    await harness.write(puback(5));
    await harness.push(again(5, 'n'));
    await harness.write(puback(5));
    await lose(harness, 1006);
    await resumed(harness);
    await harness.push(again(5, 'o'));
    expect(harness.topics).toEqual(['m', 'n', 'o']);
  });

  test('replaces a message that was held: the session sends both again, in their order', async () => {
    const harness = await resumable(PERSISTENT);
    await harness.write(subscribe('a'));
    await harness.push(publish('second', 1, 6));
    await lose(harness, 1006);
    await resumed(harness, [again(5, 'first'), again(6, 'second')]);
    expect(harness.topics).toEqual(['first', 'second']);
  });
});

describe('a connection that is lost during a move (13)', () => {
  test('is resumed if the first connection has closed and the server refuses the move', async () => {
    const harness = await resumable(EPHEMERAL, '~a.T1,400,60');
    await harness.clock.advance(348_000);
    const [old] = harness.sockets;
    harness.gateway.open('mqtt-text-v1.1');
    await harness.clock.runDue();
    old?.end(1001);
    await harness.say('~!unknown:');
    harness.gateway.open('mqtt-text-v1.1');
    await harness.clock.runDue();
    expect(harness.gateway.lastText).toBe('~!a.T1');
    await resumed(harness);
    expect(harness.closes).toEqual([]);
    expect(gaps(harness)).toHaveLength(1);
  });

  test('is resumed: the library sees no disconnect', async () => {
    // The second connection is opened half way between 75 and 96 % of this time, and 5 s after that.
    const harness = await resumable(EPHEMERAL, '~a.T1,400,60');
    await harness.clock.advance(348_000);
    expect(harness.sockets).toHaveLength(2);
    const [old] = harness.sockets;
    harness.gateway.open('mqtt-text-v1.1');
    await harness.clock.runDue();
    expect(harness.gateway.lastText).toBe('~a.T1');
    await harness.push(publish('on the second'));
    harness.gateway.end(1006);
    await harness.clock.runDue();
    expect(old?.closedWith?.code).toBe(4000);
    harness.gateway.open('mqtt-text-v1.1');
    await harness.clock.runDue();
    expect(harness.gateway.lastText).toBe('~!a.T1');
    await resumed(harness);
    expect(harness.closes).toEqual([]);
    expect(gaps(harness)).toHaveLength(1);
  });
});
