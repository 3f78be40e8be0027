import { describe, expect, test } from 'vitest';
import { disconnect, Harness, pingreq, puback, publish, subscribe } from './support/harness.ts';

describe('the offer of extensions (10)', () => {
  const connack = { cmd: 'connack', returnCode: 0, sessionPresent: false } as const;
  const offers = ({ gateway }: Harness) => gateway.frames.map(({ offered }) => offered);

  test("asks for the subprotocols of text frames before mqtt.js's", async () => {
    const harness = new Harness();
    await harness.dial();
    expect(harness.gateway.protocols.slice(-3)).toEqual(['mqtt-text-v1.1', 'mqtt-text-v1', 'mqtt']);
  });

  test('is in the frame of CONNECT only, if the server has chosen the subprotocol for it', async () => {
    const harness = new Harness();
    await harness.open({}, 4, 'mqtt-text-v1.1');
    await harness.say(`(nudge):${harness.bytes([connack]).toString('base64')}`);
    await harness.write(publish('a'));
    expect(harness.sent).toEqual(['connect', 'a']);
    expect(offers(harness)).toEqual([['nudge', 'move', 'resume', 'close', 'alive'], undefined]);
    expect(harness.topics).toEqual(['connack']);
  });

  test('does not include resuming for a client that does not reconnect', async () => {
    const harness = new Harness();
    harness.options.reconnectPeriod = 0;
    await harness.open({}, 4, 'mqtt-text-v1.1');
    expect(offers(harness)).toEqual([['nudge', 'move', 'close', 'alive']]);
  });

  test('is not made to a server of mqtt-text-v1', async () => {
    const harness = new Harness();
    await harness.open({}, 4, 'mqtt-text-v1');
    await harness.reply([connack]);
    expect(offers(harness)).toEqual([undefined]);
    expect(harness.topics).toEqual(['connack']);
  });

  test('is made again with a CONNECT that the server has not taken', async () => {
    const harness = new Harness();
    await harness.open({}, 4, 'mqtt-text-v1.1');
    await harness.say('(nudge)!0:');
    expect(offers(harness)).toEqual([
      ['nudge', 'move', 'resume', 'close', 'alive'],
      ['nudge', 'move', 'resume', 'close', 'alive'],
    ]);
  });

  test('needs no answer', async () => {
    const harness = new Harness();
    await harness.open({}, 4, 'mqtt-text-v1.1');
    await harness.reply([connack]);
    expect(harness.topics).toEqual(['connack']);
    expect(harness.errors).toEqual([]);
  });
});

describe('one frame in flight (3)', () => {
  test('holds the next frame until the reply has come, and packs the packets that wait', async () => {
    const harness = new Harness();
    await harness.connect();
    await harness.write(publish('a'));
    await harness.write(publish('b'));
    await harness.write(publish('c', 1, 7));
    expect(harness.sent).toEqual(['a']);
    await harness.reply();
    expect(harness.sent).toEqual(['a', 'b c']);
    await harness.reply([puback(7)]);
    expect(harness.sent).toEqual(['a', 'b c']);
    expect(harness.received).toMatchObject([{ cmd: 'puback', messageId: 7 }]);
  });

  test('is assembled from packets that are written in pieces', async () => {
    const harness = new Harness();
    await harness.connect();
    for (const byte of harness.bytes([publish('a'), publish('b', 1, 2, 'payload')])) {
      harness.socket.send(Uint8Array.of(byte));
    }
    await harness.clock.runDue();
    expect(harness.sent).toEqual(['a b']);
  });

  test('holds at most 24,573 bytes of whole packets, and the rest follows', async () => {
    const harness = new Harness();
    await harness.connect();
    // 2 + 2 + 1 + payload; short packets have a Remaining Length that is three bytes shorter.
    const third = publish('a', 0, 0, Buffer.alloc(8_191 - 6));
    await harness.write(third, third, third, publish('b'));
    expect(harness.sent).toEqual(['a a a']);
    expect(harness.gateway.lastText).toHaveLength(32_764);
    await harness.reply();
    expect(harness.sent).toEqual(['a a a', 'b']);
  });

  test('ends before a packet that does not fit, which no smaller one overtakes', async () => {
    const harness = new Harness();
    await harness.connect();
    const large = (topic: string) => publish(topic, 0, 0, Buffer.alloc(20_000));
    await harness.write(large('a'), large('b'), publish('c'));
    await harness.reply();
    expect(harness.sent).toEqual(['a', 'b c']);
  });

  test('may be one packet of 24,573 bytes', async () => {
    const harness = new Harness();
    await harness.connect();
    await harness.write(publish('a', 0, 0, Buffer.alloc(24_573 - 7)));
    expect(harness.gateway.lastText).toHaveLength(32_764);
    expect(harness.errors).toEqual([]);
  });
});

describe('frames that were taken in part (3)', () => {
  test('send the packets that were not taken again, before all others', async () => {
    const harness = new Harness();
    await harness.connect();
    await harness.write(publish('a', 1, 1), publish('b', 1, 2), publish('c', 1, 3));
    await harness.write(publish('d', 1, 4));
    await harness.reply([puback(1)], { taken: 1 });
    expect(harness.sent).toEqual(['a b c', 'b c d']);
    expect(harness.received).toEqual([expect.objectContaining({ messageId: 1 })]);
  });

  test('end the connection if no packet is taken four times in a row, and nothing has to be held', async () => {
    const harness = new Harness();
    await harness.connect();
    await harness.write(publish('a', 1, 1));
    for (let count = 0; count < 3; count += 1) await harness.reply([], { taken: 0 });
    expect(harness.sent).toEqual(['a', 'a', 'a', 'a']);
    await harness.reply([], { taken: 0 });
    expect(harness.errors).toEqual(['not-taken']);
    await harness.connect();
    await harness.write(publish('a', 1, 1));
    expect(harness.sent).toEqual(['a']);
  });

  test('are counted anew after progress', async () => {
    const harness = new Harness();
    await harness.connect();
    await harness.write(publish('a'), publish('b'));
    for (const taken of [0, 0, 0, 1, 0, 0, 0]) await harness.reply([], { taken });
    expect(harness.errors).toEqual([]);
    await harness.reply();
    expect(harness.sent.slice(-2)).toEqual(['b', 'b']);
  });

  test('wait without a limit while more is waiting; where nothing comes they are sent again after a growing time', async () => {
    const harness = new Harness();
    await harness.connect();
    await harness.write(publish('a', 1, 1));
    for (let count = 0; count < 9; count += 1) await harness.reply([publish('q')], { taken: 0, more: true });
    expect(harness.sent).toHaveLength(10);
    for (const waitMs of [100, 200]) {
      const before = harness.sent.length;
      await harness.reply([], { taken: 0, more: true });
      await harness.clock.advance(waitMs - 1);
      expect(harness.sent).toHaveLength(before);
      await harness.clock.advance(1);
      expect(harness.sent).toHaveLength(before + 1);
    }
    expect(harness.errors).toEqual([]);
  });

  test('send a DISCONNECT that was not taken again before the socket is closed', async () => {
    const harness = new Harness();
    await harness.connect();
    await harness.write(publish('a'), disconnect);
    harness.socket.close();
    await harness.reply([], { taken: 1 });
    expect(harness.sent).toEqual(['a disconnect', 'disconnect']);
    expect(harness.gateway.closedWith).toBeUndefined();
    await harness.reply();
    expect(harness.gateway.closedWith?.code).toBe(1000);
  });
});

describe('acknowledgements (5)', () => {
  const persistent = { clean: false } as const;

  test('wait for a frame to travel with, in front of it', async () => {
    const harness = new Harness();
    await harness.connect(persistent);
    await harness.write(puback(1), puback(2));
    expect(harness.sent).toEqual([]);
    await harness.write(publish('a'));
    expect(harness.sent).toEqual(['puback puback a']);
    await harness.reply();
    await harness.clock.advance(1_000);
    expect(harness.sent).toHaveLength(1);
  });

  test('leave alone after 100 ms, marked as wanting no reply, even while a frame is outstanding', async () => {
    const harness = new Harness();
    await harness.connect(persistent);
    await harness.write(publish('a'));
    await harness.write(puback(1));
    await harness.clock.advance(50);
    await harness.write({ cmd: 'pubcomp', messageId: 2 });
    await harness.clock.advance(49);
    expect(harness.sent).toEqual(['a']);
    await harness.clock.advance(1);
    expect(harness.sent).toEqual(['a', ',puback pubcomp']);
  });

  test('wait as long as the option says', async () => {
    const harness = new Harness({ acknowledgeDelayMs: 500 });
    await harness.connect(persistent);
    await harness.write(puback(1));
    await harness.clock.advance(499);
    expect(harness.sent).toEqual([]);
    await harness.clock.advance(1);
    expect(harness.sent).toEqual([',puback']);
  });

  test('each wait their own time, even if an earlier one left with a frame', async () => {
    const harness = new Harness();
    await harness.connect(persistent);
    await harness.write(puback(1));
    await harness.clock.advance(50);
    await harness.write(publish('a'));
    await harness.reply();
    await harness.clock.advance(40);
    await harness.write(puback(2));
    await harness.clock.advance(99);
    expect(harness.sent).toEqual(['puback a']);
    await harness.clock.advance(1);
    expect(harness.sent).toEqual(['puback a', ',puback']);
  });

  test('leave in several frames if they do not fit into one', async () => {
    const harness = new Harness();
    await harness.connect(persistent);
    await harness.write(...Array.from({ length: 6_144 }, (_, index) => puback(index + 1)));
    await harness.clock.advance(100);
    expect(harness.gateway.frames.map(({ packets }) => packets.length)).toEqual([6_143, 1]);
  });

  test('want a reply if they are PUBREC or PUBREL', async () => {
    const harness = new Harness();
    await harness.connect(persistent);
    await harness.write({ cmd: 'pubrec', messageId: 1 });
    await harness.reply();
    await harness.write({ cmd: 'pubrel', messageId: 2 });
    expect(harness.sent).toEqual(['pubrec', 'pubrel']);
  });

  const ephemeral = [
    ['3.1.1 with Clean Session', 4, { clean: true }],
    ['5.0 with Clean Start', 5, { clean: true }],
    [
      '5.0 with Clean Start and a Session Expiry Interval of 0',
      5,
      { clean: true, properties: { sessionExpiryInterval: 0 } },
    ],
    [
      '5.0 with properties of every kind, but none that keep anything',
      5,
      {
        clean: true,
        properties: {
          maximumPacketSize: 100_000,
          topicAliasMaximum: 5,
          requestProblemInformation: true,
          userProperties: { some: 'user', other: 'property' },
          authenticationMethod: 'method',
          authenticationData: Buffer.from('data'),
        },
      },
    ],
  ] as const;
  test.each(ephemeral)('are PUBREC and PUBCOMP but not PUBACK: %s', async (_name, version, connect) => {
    const harness = new Harness();
    await harness.connect(connect, version);
    await harness.write(puback(1), { cmd: 'pubrec', messageId: 2 }, { cmd: 'pubcomp', messageId: 3 });
    await harness.clock.advance(1_000);
    expect(harness.sent).toEqual(['pubcomp pubrec']);
    expect(harness.transport.statistics.pubacksDropped).toBe(1);
  });

  const kept = [
    ['3.1.1 without Clean Session', 4, { clean: false }],
    ['5.0 without Clean Start', 5, { clean: false }],
    ['5.0 with a Session Expiry Interval', 5, { clean: true, properties: { sessionExpiryInterval: 60 } }],
    ['5.0 with a Receive Maximum', 5, { clean: true, properties: { receiveMaximum: 65_535 } }],
  ] as const;
  test.each(kept)('include PUBACK: %s', async (_name, version, connect) => {
    const harness = new Harness();
    await harness.connect(connect, version);
    await harness.write(puback(1));
    await harness.clock.advance(100);
    expect(harness.sent).toEqual([',puback']);
  });

  test.each([4, 5] as const)('include PUBACK with a shared subscription, MQTT %i', async (version) => {
    const harness = new Harness();
    await harness.connect({}, version);
    await harness.write(subscribe('$shared/a', 'a/b'));
    await harness.reply();
    await harness.write(puback(1));
    await harness.clock.advance(100);
    expect(harness.sent).toEqual(['subscribe']);
    await harness.write({
      ...subscribe('a', '$share/group/b'),
      properties: { userProperties: { a: 'b' } },
    } as never);
    await harness.reply();
    await harness.write(puback(1));
    await harness.clock.advance(100);
    expect(harness.sent).toEqual(['subscribe', 'subscribe', ',puback']);
  });
});

describe('rare publishes of QoS 0 (5)', () => {
  async function rarely(harness: Harness, times: number): Promise<void> {
    for (let count = 0; count < times; count += 1) {
      await harness.clock.advance(5_001);
      await harness.write(publish('a'));
      if (harness.gateway.frames.at(-1)?.replyWanted) await harness.reply();
    }
  }

  test('go without a reply after three of them', async () => {
    const harness = new Harness();
    await harness.connect();
    await rarely(harness, 6);
    expect(harness.sent).toEqual(['a', 'a', 'a', ',a', ',a', ',a']);
  });

  test('hold back the next frame for five seconds, and then the count begins anew', async () => {
    const harness = new Harness();
    await harness.connect();
    await rarely(harness, 4);
    await harness.clock.advance(1_000);
    await harness.write(subscribe('b'));
    await harness.clock.advance(3_999);
    expect(harness.sent).toHaveLength(4);
    await harness.clock.advance(1);
    expect(harness.sent.at(-1)).toBe('subscribe');
    await harness.reply();
    await rarely(harness, 4);
    expect(harness.sent.slice(5)).toEqual(['a', 'a', 'a', ',a']);
  });

  test('do not hold back acknowledgements', async () => {
    const harness = new Harness();
    await harness.connect({ clean: false });
    await rarely(harness, 4);
    await harness.write(puback(1));
    await harness.clock.advance(100);
    expect(harness.sent.at(-1)).toBe(',puback');
  });

  const breaks = [
    ['QoS 1', [publish('b', 1, 1)]],
    ['two in one frame', [publish('b'), publish('c')]],
    ['another packet', [subscribe('b')]],
  ] as const;
  test.each(breaks)('ask for replies again after %s', async (_name, packets) => {
    const harness = new Harness();
    await harness.connect();
    await rarely(harness, 3);
    await harness.clock.advance(5_001);
    await harness.write(...packets);
    await harness.reply();
    await rarely(harness, 1);
    expect(harness.sent.at(-1)).toBe('a');
  });

  test('are counted anew also if the timer is late', async () => {
    const harness = new Harness();
    await harness.connect();
    await rarely(harness, 4);
    await harness.clock.advance(1_000);
    await harness.write(publish('b'));
    await harness.clock.sleep(4_500);
    expect(harness.sent.at(-1)).toBe('b');
  });

  test('are not alone if two do not fit into one frame', async () => {
    const harness = new Harness();
    await harness.connect();
    await rarely(harness, 3);
    await harness.clock.advance(5_001);
    const large = publish('b', 0, 0, Buffer.alloc(20_000));
    await harness.write(large, large);
    await harness.reply();
    expect(harness.sent.slice(3)).toEqual(['b', 'b']);
  });

  test('do not go without a reply if the client acknowledges in between', async () => {
    const harness = new Harness();
    await harness.connect({ clean: false });
    await rarely(harness, 3);
    await harness.write(puback(1));
    await harness.clock.advance(100);
    await rarely(harness, 1);
    expect(harness.sent.slice(3)).toEqual([',puback', 'a']);
  });

  test('do not count exactly five seconds as more than five seconds', async () => {
    const harness = new Harness();
    await harness.connect();
    await rarely(harness, 3);
    await harness.clock.advance(5_000);
    await harness.write(publish('a'));
    expect(harness.sent.at(-1)).toBe('a');
  });

  test('hold back DISCONNECT', async () => {
    const harness = new Harness();
    await harness.connect();
    await rarely(harness, 4);
    await harness.write(disconnect);
    harness.socket.close();
    await harness.clock.advance(4_999);
    expect(harness.sent.at(-1)).toBe(',a');
    await harness.clock.advance(1);
    expect(harness.sent.at(-1)).toBe('disconnect');
  });
});

describe('the clock (7)', () => {
  test('of the largest value seen goes with every frame, on this connection and the next', async () => {
    const harness = new Harness();
    await harness.connect({ clean: false });
    await harness.write(publish('a'));
    await harness.reply([], { clock: '0mh1t2c4x0002' });
    await harness.write(publish('b'));
    await harness.reply([], { clock: '0mh1t2c4x0001' });
    await harness.write(puback(1));
    await harness.clock.advance(100);
    await harness.connect();
    await harness.write(pingreq, publish('c'));
    expect(harness.sockets.map(({ frames }) => frames.map(({ clock }) => clock))).toEqual([
      [undefined, '0mh1t2c4x0002', '0mh1t2c4x0002'],
      ['0mh1t2c4x0002'],
    ]);
  });

  test('is left out of a full frame', async () => {
    const harness = new Harness();
    await harness.connect();
    await harness.write(publish('a'));
    await harness.reply([], { clock: '0mh1t2c4x0002' });
    await harness.write(publish('a', 0, 0, Buffer.alloc(24_573 - 7)));
    expect(harness.gateway.frames.at(-1)?.clock).toBeUndefined();
    expect(harness.gateway.frames.at(-1)?.packets).toHaveLength(1);
  });
});
