import { describe, expect, test } from 'vitest';
import { disconnect, Harness, type Packet, pingreq, puback, publish, subscribe } from './support/harness.ts';

const connack = { cmd: 'connack', returnCode: 0, sessionPresent: true } as const;
const serverError = '{"message": "Internal server error", "connectionId":"c", "requestId":"r"}';

describe('a frame of unknown fate (6)', () => {
  test('follows if no reply comes within 8 seconds: the connection is given up', async () => {
    const harness = new Harness();
    await harness.connect();
    await harness.write(publish('a', 1, 1));
    await harness.clock.advance(7_999);
    expect(harness.closes).toEqual([]);
    await harness.clock.advance(1);
    expect(harness.errors).toEqual(['no-reply']);
    expect(harness.gateway.closedWith).toEqual({ code: 4000, reason: 'no-reply' });
    expect(harness.closes).toEqual([{ code: 4000, reason: 'no-reply' }]);
  });

  test('follows after the time that the option says', async () => {
    const harness = new Harness({ replyTimeoutSeconds: 20 });
    await harness.connect();
    await harness.write(publish('a', 1, 1));
    await harness.clock.advance(19_999);
    expect(harness.errors).toEqual([]);
    await harness.clock.advance(1);
    expect(harness.errors).toEqual(['no-reply']);
  });

  test("follows if the gateway failed: the connection is given up, with the gateway's error and advice", async () => {
    const harness = new Harness();
    await harness.connect();
    await harness.write(publish('a', 1, 1));
    await harness.say(serverError);
    expect(harness.events[0]).toMatchObject({
      type: 'error',
      error: { code: 'gateway-error', message: expect.stringMatching(/"requestId":"r".*search its log/) },
    });
    expect(harness.closes).toHaveLength(1);
  });

  const unreadable = [
    ['an unknown marker', '*0AA='],
    ['half a packet', 'MAcAA2Ev'],
    ['half a packet in a reply', ':MAcAA2Ev'],
    ['more packets taken than were sent', '!2:'],
    ['binary data', new ArrayBuffer(2)],
  ] as const;
  test.each(unreadable)('follows after %s: the connection is given up', async (_name, text) => {
    const harness = new Harness();
    await harness.connect();
    await harness.write(publish('a', 1, 1));
    await harness.say(text);
    expect(harness.errors).toEqual(['unreadable-frame']);
    expect(harness.closes).toHaveLength(1);
  });

  test('is not what a reply to nothing means: that is a frame that cannot be read', async () => {
    const harness = new Harness();
    await harness.connect();
    await harness.reply();
    expect(harness.errors).toEqual(['unreadable-frame']);
  });

  test('is not caused by empty frames: they mean nothing', async () => {
    const harness = new Harness();
    await harness.connect();
    await harness.write(publish('a', 1, 1));
    await harness.say('');
    expect(harness.errors).toEqual([]);
    await harness.write(publish('b'));
    expect(harness.sent).toEqual(['a']);
  });

  test('is not sent again on the new connection', async () => {
    const harness = new Harness();
    await harness.connect();
    await harness.write(publish('a', 1, 1));
    await harness.write(publish('b', 0));
    await harness.say(serverError);
    expect(harness.events.at(-1)).toMatchObject({ type: 'closed', packetsUnsent: 1 });
    await harness.open();
    await harness.reply([connack]);
    await harness.clock.advance(60_000);
    expect(harness.sent).toEqual(['connect']);
  });
});

describe('PUBLISH after a frame of unknown fate (6)', () => {
  async function lose(harness: Harness, ...packets: readonly Packet[]): Promise<void> {
    await harness.connect({ clean: false });
    await harness.write(...packets);
    harness.gateway.end(1006);
    await harness.clock.runDue();
    await harness.open({ clean: false });
  }

  const holding = [
    ['a PUBLISH of QoS 1', publish('a', 1, 1)],
    ['a PUBLISH of QoS 0', publish('a')],
    ['a PUBREL', { cmd: 'pubrel', messageId: 1 }],
  ] as const;
  test.each(holding)('is held until 5 s after CONNACK when %s was lost', async (_name, packet) => {
    const harness = new Harness();
    await lose(harness, packet);
    await harness.clock.advance(7_000);
    await harness.reply([connack]);
    await harness.write(publish('again', 1, 1), subscribe('s'));
    await harness.write({ cmd: 'pubrel', messageId: 9 });
    expect(harness.sent).toEqual(['connect', 'subscribe']);
    await harness.reply();
    expect(harness.sent).toEqual(['connect', 'subscribe', 'pubrel']);
    await harness.reply();
    await harness.clock.advance(4_999);
    expect(harness.sent).toHaveLength(3);
    await harness.clock.advance(1);
    expect(harness.sent.at(-1)).toBe('again');
    await harness.reply([puback(1)]);
    await harness.write(publish('next'));
    expect(harness.sent.at(-1)).toBe('next');
  });

  test('is followed by DISCONNECT only when it has left', async () => {
    const harness = new Harness();
    await lose(harness, publish('a', 1, 1));
    await harness.reply([connack]);
    await harness.write(publish('b'), disconnect);
    harness.socket.close();
    await harness.clock.advance(4_999);
    expect(harness.sent).toEqual(['connect']);
    await harness.clock.advance(1);
    expect(harness.sent).toEqual(['connect', 'b disconnect']);
  });

  test('does not hold back a lone DISCONNECT', async () => {
    const harness = new Harness();
    await lose(harness, subscribe('a'));
    await harness.reply([connack]);
    await harness.write(disconnect);
    expect(harness.sent).toEqual(['connect', 'disconnect']);
  });

  test('is held over connections that CONNACK never reached', async () => {
    const harness = new Harness();
    await lose(harness, publish('a', 1, 1));
    harness.gateway.end(1006);
    await harness.open({ clean: false });
    await harness.reply([connack]);
    await harness.write(publish('a', 1, 1));
    expect(harness.sent).toEqual(['connect']);
  });

  test('is held when a publish went without a reply in the last five seconds', async () => {
    const harness = new Harness();
    await harness.connect();
    for (let count = 0; count < 4; count += 1) {
      await harness.clock.advance(5_001);
      await harness.write(publish('a'));
      if (count < 3) await harness.reply();
    }
    await harness.clock.advance(4_999);
    harness.gateway.end(1006);
    await harness.connect();
    await harness.write(publish('b'));
    expect(harness.sent).toEqual([]);
  });

  const notHolding = [
    ['a SUBSCRIBE was lost', async (harness: Harness) => lose(harness, subscribe('a'))],
    [
      'acknowledgements went without a reply',
      async (harness: Harness) => {
        await harness.connect({ clean: false });
        await harness.write(puback(1));
        await harness.clock.advance(100);
        harness.gateway.end(1006);
        await harness.open();
      },
    ],
    [
      'every frame had its reply',
      async (harness: Harness) => {
        await harness.connect({ clean: false });
        await harness.write(publish('a', 1, 1));
        await harness.reply([puback(1)]);
        harness.gateway.end(1006);
        await harness.open();
      },
    ],
  ] as const;
  test.each(notHolding)('is not held when %s', async (_name, lost) => {
    const harness = new Harness();
    await lost(harness);
    await harness.reply([connack]);
    await harness.write(publish('b'));
    expect(harness.sent).toEqual(['connect', 'b']);
  });
});

describe('closing (8)', () => {
  test('begins with DISCONNECT at the end of a frame; its reply closes the socket with 1000', async () => {
    const harness = new Harness();
    await harness.connect();
    await harness.write(publish('a'));
    await harness.write(publish('b', 1, 1), disconnect);
    harness.socket.close();
    expect(harness.socket.readyState).toBe(harness.socket.CLOSING);
    await harness.reply();
    expect(harness.sent).toEqual(['a', 'b disconnect']);
    expect(harness.gateway.closedWith).toBeUndefined();
    await harness.reply([puback(1)]);
    expect(harness.received).toMatchObject([{ cmd: 'puback' }]);
    expect(harness.gateway.closedWith?.code).toBe(1000);
    expect(harness.closes).toEqual([]);
    harness.gateway.end(1000, 'bye');
    await harness.clock.runDue();
    expect(harness.closes).toEqual([{ code: 1000, reason: 'bye' }]);
  });

  test('waits at most one second for the closing handshake', async () => {
    const harness = new Harness();
    await harness.connect();
    await harness.write(disconnect);
    harness.socket.close();
    await harness.reply();
    await harness.clock.advance(999);
    expect(harness.closes).toEqual([]);
    await harness.clock.advance(1);
    expect(harness.closes).toHaveLength(1);
    expect(harness.clock.pending).toBe(0);
  });

  test('is immediate without DISCONNECT', async () => {
    const harness = new Harness();
    await harness.connect();
    await harness.write(publish('a', 1, 1));
    harness.socket.close();
    await harness.clock.runDue();
    expect(harness.gateway.closedWith).toBeDefined();
    expect(harness.closes).toHaveLength(1);
    expect(harness.socket.readyState).toBe(harness.socket.CLOSED);
  });

  test('is immediate with terminate, with or without DISCONNECT', async () => {
    const harness = new Harness();
    await harness.connect();
    await harness.write(publish('a', 1, 1));
    await harness.write(disconnect);
    harness.socket.terminate();
    await harness.clock.runDue();
    expect(harness.sent).toEqual(['a']);
    expect(harness.closes).toHaveLength(1);
  });

  test.each(['a reply', 'a push'])(
    'follows a DISCONNECT of the server in %s once it is handed over',
    async (way) => {
      const harness = new Harness();
      await harness.connect({}, 5);
      const disconnect = { cmd: 'disconnect', reasonCode: 0x8e } as const;
      if (way === 'a reply') await harness.write(publish('a', 1, 1));
      if (way === 'a reply') await harness.reply([puback(1), disconnect]);
      else await harness.push(publish('a'), disconnect);
      expect(harness.received.at(-1)).toMatchObject({ cmd: 'disconnect', reasonCode: 0x8e });
      expect(harness.gateway.closedWith?.code).toBe(1000);
      await harness.write(publish('b'));
      expect(harness.sent).not.toContain('b');
    },
  );

  test.each([
    [4, 'a reply'],
    [5, 'a reply'],
    [5, 'a push'],
  ] as const)(
    'MQTT %i: a CONNACK that refuses, in %s, closes the socket once it is handed over',
    async (version, way) => {
      const harness = new Harness();
      await harness.open({}, version);
      const refusal = { cmd: 'connack', returnCode: 5, reasonCode: 0x87, sessionPresent: false } as const;
      await (way === 'a reply' ? harness.reply([refusal]) : harness.push(refusal));
      expect(harness.received).toMatchObject([{ cmd: 'connack' }]);
      expect(harness.gateway.closedWith?.code).toBe(1000);
      expect(harness.events.some(({ type }) => type === 'connected')).toBe(false);
    },
  );

  test.each([
    [1001, /two hours/],
    [1006, /network/],
    [1008, /throttled/],
    [1009, /too large/],
  ])('close code %i is passed on, with words', async (code, advice) => {
    const harness = new Harness();
    await harness.connect();
    harness.gateway.end(code, 'Going away');
    await harness.clock.runDue();
    expect(harness.closes).toEqual([{ code, reason: 'Going away' }]);
    expect(harness.events).toEqual([
      { type: 'closed', code, reason: 'Going away', advice: expect.stringMatching(advice), packetsUnsent: 0 },
    ]);
  });

  test('never makes send throw: before the socket is open, while it closes, when it is closed', async () => {
    const harness = new Harness();
    await harness.dial();
    const results: unknown[] = [];
    const send = (): void =>
      harness.socket.send(harness.bytes([pingreq]), (error) => results.push(error?.message));
    send();
    harness.gateway.open();
    await harness.write(disconnect);
    harness.socket.close();
    send();
    harness.socket.terminate();
    send();
    await harness.clock.runDue();
    send();
    await harness.clock.runDue();
    expect(results).toEqual([undefined, undefined, 'The socket is closed', 'The socket is closed']);
  });
});

describe('reconnects (8)', () => {
  test('come at once, then after a random time that at most doubles, until a connection was stable', async () => {
    const harness = new Harness({ random: () => 0.5 });
    const waits: unknown[] = [];
    for (let attempt = 0; attempt < 10; attempt += 1) {
      await harness.dial();
      waits.push(harness.options.reconnectPeriod);
      harness.gateway.end(1006);
    }
    expect(waits).toEqual([1, 2_500, 4_500, 8_500, 16_500, 32_500, 60_500, 60_500, 60_500, 60_500]);
    await harness.connect();
    await harness.clock.advance(59_999);
    expect(harness.options.reconnectPeriod).toBe(60_500);
    await harness.clock.advance(1);
    expect(harness.options.reconnectPeriod).toBe(1);
  });

  test('do not happen if the client has switched them off', async () => {
    const harness = new Harness();
    harness.options.reconnectPeriod = 0;
    await harness.connect();
    await harness.clock.advance(120_000);
    expect(harness.options.reconnectPeriod).toBe(0);
  });
});
