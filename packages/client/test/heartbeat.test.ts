import { describe, expect, test } from 'vitest';
import { Heartbeat } from '../src/heartbeat.ts';
import type { EventSource, TransportOptions } from '../src/index.ts';
import { disconnect, Harness, pingreq, pingresp, puback, publish } from './support/harness.ts';

/** Keep Alive in the CONNECT that left, in seconds. */
function keepAlive({ gateway }: Harness): number | undefined {
  return gateway.frames[0]?.packets[0]?.readUInt16BE(10);
}

describe('Keep Alive (5)', () => {
  test.each([4, 5] as const)('is the heartbeat in the CONNECT that leaves, MQTT %i', async (version) => {
    const harness = new Harness();
    await harness.open({ keepalive: 0, clientId: 'x'.repeat(200) }, version);
    const [packet] = harness.gateway.frames[0]?.packets ?? [];
    // Remaining Length has one more byte.
    expect(packet?.readUInt16BE(11)).toBe(540);
  });

  test('is the value of the option', async () => {
    const harness = new Harness({ heartbeatSeconds: 30 });
    await harness.open();
    expect(keepAlive(harness)).toBe(30);
  });

  test('answers a PINGREQ of the library at once, and does not send it', async () => {
    const harness = new Harness();
    await harness.connect();
    for (let minute = 0; minute < 8; minute += 1) {
      await harness.clock.advance(60_000);
      await harness.write(pingreq);
    }
    expect(harness.received).toMatchObject(Array(8).fill(pingresp));
    expect(harness.sent).toEqual([]);
    expect(harness.transport.statistics.pingsAnswered).toBe(8);
  });

  test('sends a PINGREQ after 540 seconds without a frame that wants a reply, and keeps its answer', async () => {
    const harness = new Harness();
    await harness.connect({ clean: false, keepalive: 0 });
    await harness.clock.advance(100_000);
    await harness.write(publish('a'));
    await harness.reply();
    await harness.clock.advance(539_000);
    await harness.write(puback(1));
    await harness.clock.advance(999);
    expect(harness.sent).toEqual(['a', ',puback']);
    await harness.clock.advance(1);
    expect(harness.sent).toEqual(['a', ',puback', 'pingreq']);
    await harness.reply([pingresp, publish('m')]);
    expect(harness.topics).toEqual(['m']);
    await harness.clock.advance(540_000);
    expect(harness.sent).toHaveLength(4);
  });

  test('gives the connection up when the server does not answer', async () => {
    const harness = new Harness();
    await harness.connect();
    await harness.clock.advance(548_000);
    expect(harness.errors).toEqual(['no-reply']);
  });

  test('is shortened by Server Keep Alive', async () => {
    const harness = new Harness();
    await harness.connect({}, 5, { properties: { serverKeepAlive: 100, assignedClientIdentifier: 'c' } });
    await harness.clock.advance(99_999);
    expect(harness.sent).toEqual([]);
    await harness.clock.advance(1);
    expect(harness.sent).toEqual(['pingreq']);
  });

  test('sends a PINGREQ at once after the computer has slept', async () => {
    const harness = new Harness();
    await harness.connect();
    await harness.clock.advance(10_000);
    await harness.clock.sleep(300_000);
    expect(harness.sent).toEqual(['pingreq']);
  });

  test.each([-2_000, -3_600_000, 3_600_000])(
    'sends a PINGREQ in time where the clock steps by %i ms, and one only',
    async (ms) => {
      const harness = new Harness();
      await harness.connect();
      await harness.clock.advance(500_000);
      harness.clock.step(ms);
      let seconds = 500;
      for (; harness.sent.length === 0; seconds += 1) await harness.clock.advance(1_000);
      expect(seconds).toBeLessThanOrEqual(550);
      expect(harness.sent).toEqual(['pingreq']);
      await harness.reply([pingresp]);
      await harness.clock.advance(500_000);
      expect(harness.sent).toEqual(['pingreq']);
      expect(harness.errors).toEqual([]);
    },
  );

  test('refuses a heartbeat outside of 1 to 2,160 seconds', () => {
    expect(() => new Harness({ heartbeatSeconds: 2_161 })).toThrow(RangeError);
    expect(() => new Harness({ heartbeatSeconds: 0 })).toThrow(RangeError);
  });
});

describe('signs of life without an answer (16)', () => {
  const LIVES = ',alive';

  /** A connection to a server that takes signs of life. */
  async function connected(options: TransportOptions = {}, move = ''): Promise<Harness> {
    const harness = new Harness(options);
    await harness.open({}, 5);
    const connack = { cmd: 'connack', returnCode: 0, reasonCode: 0, sessionPresent: false } as const;
    await harness.say(`(nudge,alive,move)${move}:${harness.bytes([connack]).toString('base64')}`);
    harness.gateway.texts.length = 0;
    return harness;
  }

  test('are three, nine minutes apart, before a PINGREQ', async () => {
    const harness = await connected();
    await harness.clock.advance(540_000 - 1);
    expect(harness.sent).toEqual([]);
    await harness.clock.advance(1);
    expect(harness.sent).toEqual([LIVES]);
    await harness.clock.advance(2 * 540_000);
    expect(harness.sent).toEqual([LIVES, LIVES, LIVES]);
    await harness.clock.advance(540_000);
    expect(harness.sent).toEqual([LIVES, LIVES, LIVES, 'pingreq']);
    await harness.reply([pingresp]);
    await harness.clock.advance(540_000);
    expect(harness.sent.at(-1)).toBe(LIVES);
    expect(harness.transport.statistics.messagesBilled).toBe(8);
  });

  test('none where a frame has passed in either direction, which proves nothing', async () => {
    const harness = await connected();
    for (let pushes = 0; pushes < 4; pushes += 1) {
      await harness.clock.advance(500_000);
      await harness.push(publish('news'));
    }
    expect(harness.sent).toEqual([]);
    await harness.clock.advance(160_000);
    expect(harness.sent).toEqual(['pingreq']);
  });

  test('are as many as heartbeatSeconds allows', async () => {
    const twice = await connected({ heartbeatSeconds: 1_080 });
    await twice.clock.advance(1_080_000);
    expect(twice.sent).toEqual([LIVES, 'pingreq']);
    const never = await connected({ heartbeatSeconds: 540 });
    await never.clock.advance(540_000);
    expect(never.sent).toEqual(['pingreq']);
  });

  test('are not sent to a server that does not take them', async () => {
    const harness = new Harness();
    await harness.connect();
    await harness.clock.advance(540_000);
    expect(harness.sent).toEqual(['pingreq']);
  });

  test('are not sent while a session moves: no frame leaves on its present connection', async () => {
    const harness = await connected({}, '~ticket,720,60');
    const [old] = harness.sockets;
    await harness.clock.advance(83_000);
    await harness.write(publish('a', 1));
    await harness.reply([{ cmd: 'puback', messageId: 1 }]);
    // The middle between 75 and 96 % of 720 seconds, and five for the handlers of earlier frames.
    await harness.clock.advance(615_600 + 5_000 - 83_000);
    expect(harness.sockets).toHaveLength(2);
    harness.gateway.open('mqtt-text-v1.1');
    await harness.clock.runDue();
    expect(harness.gateway.texts).toEqual(['~ticket']);
    await harness.clock.advance(83_000 + 540_000 + 1_000 - 620_600);
    expect(old?.texts).toHaveLength(1);
  });

  test('let a dead network be noticed after 36 minutes at the latest', async () => {
    const harness = await connected();
    await harness.clock.advance(2_160_000 + 7_999);
    expect(harness.errors).toEqual([]);
    await harness.clock.advance(1);
    expect(harness.errors).toEqual(['no-reply']);
  });

  test('are followed by a PINGREQ after the computer has slept', async () => {
    const harness = await connected();
    await harness.clock.advance(10_000);
    await harness.clock.sleep(300_000);
    expect(harness.sent).toEqual(['pingreq']);
  });

  test('are early enough for the gateway if timers fire once a minute', () => {
    const heartbeat = new Heartbeat(2_160, 0);
    const due: string[] = [];
    heartbeat.look(0, true);
    for (let second = 60; second <= 2_160; second += 60) {
      const found = heartbeat.look(second * 1_000, true).due;
      if (found !== undefined) due.push(`${found} ${second}`);
      if (found === 'ping') heartbeat.asked(second * 1_000);
      if (found === 'alive') heartbeat.passed(second * 1_000);
    }
    expect(due).toEqual(['alive 480', 'alive 960', 'alive 1440', 'alive 1920', 'ping 2100']);
  });
});

describe('timers that a browser slows down', () => {
  test('ask before 540 seconds are over if they fire once a minute', () => {
    const heartbeat = new Heartbeat(540, 0);
    const due: number[] = [];
    heartbeat.look(0, false);
    for (let second = 60; second <= 1_200; second += 60) {
      const isDue = heartbeat.look(second * 1_000, false).due === 'ping';
      if (isDue) due.push(second);
      if (isDue) heartbeat.asked(second * 1_000);
    }
    expect(due).toEqual([480, 960]);
  });

  test("are read when the library's PINGREQ comes", async () => {
    const harness = new Harness();
    await harness.connect();
    harness.clock.pass(541_000);
    await harness.write(pingreq);
    expect(harness.sent).toEqual(['pingreq']);
  });

  test('take a clock that was set back for a sleep', () => {
    const heartbeat = new Heartbeat(540, 1_000_000);
    expect(heartbeat.look(1_000_000, true).due).toBeUndefined();
    expect(heartbeat.look(400_000, true).due).toBe('ping');
  });
});

/** A window or document, played by a test. */
class FakeEventSource implements EventSource {
  readonly listeners = new Map<string, Set<() => void>>();
  visibilityState = 'hidden';

  addEventListener(type: string, listener: () => void): void {
    this.listeners.set(type, (this.listeners.get(type) ?? new Set()).add(listener));
  }

  removeEventListener(type: string, listener: () => void): void {
    this.listeners.get(type)?.delete(listener);
  }

  tell(type: string): void {
    for (const listener of this.listeners.get(type) ?? []) listener();
  }

  get count(): number {
    return [...this.listeners.values()].reduce((sum, { size }) => sum + size, 0);
  }
}

describe('a page', () => {
  async function onPage(): Promise<{ harness: Harness; window: FakeEventSource; document: FakeEventSource }> {
    const window = new FakeEventSource();
    const document = new FakeEventSource();
    const harness = new Harness({ page: { window, document } });
    await harness.connect();
    return { harness, window, document };
  }

  test.each(['online', 'pageshow'])('%s sends a PINGREQ at once', async (type) => {
    const { harness, window } = await onPage();
    window.tell(type);
    window.tell(type);
    await harness.clock.runDue();
    expect(harness.sent).toEqual(['pingreq']);
  });

  test('sends no PINGREQ while a reply is awaited', async () => {
    const { harness, window } = await onPage();
    await harness.write(publish('a'));
    window.tell('online');
    await harness.reply();
    expect(harness.sent).toEqual(['a']);
  });

  test('that becomes visible asks if it has heard nothing for a minute', async () => {
    const { harness, document } = await onPage();
    await harness.clock.advance(60_000);
    document.tell('visibilitychange');
    document.visibilityState = 'visible';
    document.tell('visibilitychange');
    await harness.clock.advance(1);
    expect(harness.sent).toEqual([]);
    document.tell('visibilitychange');
    await harness.clock.runDue();
    expect(harness.sent).toEqual(['pingreq']);
  });

  test('that becomes visible asks if the clock has gone back, and it does not know since when', async () => {
    const { harness, document } = await onPage();
    document.visibilityState = 'visible';
    harness.clock.step(-3_600_000);
    document.tell('visibilitychange');
    await harness.clock.runDue();
    expect(harness.sent).toEqual(['pingreq']);
  });

  const endings = [
    [
      'DISCONNECT',
      async (harness: Harness) => {
        await harness.write(disconnect);
        harness.socket.close();
        await harness.reply();
        harness.gateway.end(1000);
      },
    ],
    ['terminate', async (harness: Harness) => harness.socket.terminate()],
    ['a cut', async (harness: Harness) => harness.gateway.end(1006)],
    [
      'a cut with everything waiting',
      async (harness: Harness) => {
        await harness.write(publish('a', 1, 1), { cmd: 'pubcomp', messageId: 1 });
        await harness.write({ cmd: 'pubcomp', messageId: 2 });
        harness.gateway.end(1006);
      },
    ],
    [
      'a silent server',
      async (harness: Harness) => {
        await harness.write(publish('a', 1, 1));
        await harness.clock.advance(8_000);
      },
    ],
    ['an error of the gateway', async (harness: Harness) => harness.say('{"message": "Forbidden"}')],
    [
      'the end of a rare publisher',
      async (harness: Harness) => {
        for (let count = 0; count < 4; count += 1) {
          await harness.clock.advance(5_001);
          await harness.write(publish('a'));
          if (count < 3) await harness.reply();
        }
        harness.gateway.end(1001);
      },
    ],
    [
      'the end of a drained fetch',
      async (harness: Harness) => {
        await harness.write(publish('a'));
        await harness.reply([], { more: true });
        await harness.reply([], { more: true });
        harness.gateway.end(1001);
      },
    ],
  ] as const;
  test.each(endings)('leaves no timer and no listener after %s', async (_name, end) => {
    const { harness, window, document } = await onPage();
    expect(harness.clock.pending).toBeGreaterThan(0);
    expect(window.count + document.count).toBe(3);
    await end(harness);
    await harness.clock.runDue();
    expect(harness.closes).toHaveLength(1);
    expect(harness.clock.pending).toBe(0);
    expect(window.count + document.count).toBe(0);
  });
});
