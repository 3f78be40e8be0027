import { describe, expect, test } from 'vitest';
import { FRAME_BYTES_MAX, WAITING_BYTES_HIGH } from '../src/limits.ts';
import { disconnect, Harness, puback, publish } from './support/harness.ts';

describe('opening', () => {
  test('asks for a token at each connection and adds it to the query, encoded', async () => {
    const tokens = ['first', 'a+b/c= &d'];
    const harness = new Harness({ token: () => tokens.shift() ?? '', tokenParameter: 'jwt' });
    await harness.dial('wss://gateway.test/mqtt?a=b');
    await harness.dial('wss://gateway.test/mqtt');
    expect(harness.sockets.map(({ url }) => url)).toEqual([
      'wss://gateway.test/mqtt?a=b&jwt=first',
      'wss://gateway.test/mqtt?jwt=a%2Bb%2Fc%3D+%26d',
    ]);
    expect(new URL(harness.gateway.url).searchParams.get('jwt')).toBe('a+b/c= &d');
  });

  test('waits for a token', async () => {
    let give: (token: string) => void = () => {};
    const token = new Promise<string>((resolve) => {
      give = resolve;
    });
    const harness = new Harness({ token: () => token });
    await harness.dial();
    expect(harness.sockets).toEqual([]);
    give('late');
    await harness.clock.runDue();
    expect(harness.gateway.url).toBe('ws://gateway.test/mqtt?token=late');
  });

  test('does not happen if the token comes after the end', async () => {
    let give: (token: string) => void = () => {};
    const token = new Promise<string>((resolve) => {
      give = resolve;
    });
    const harness = new Harness({ token: () => token });
    await harness.dial();
    harness.socket.terminate();
    give('late');
    await harness.clock.runDue();
    expect(harness.sockets).toEqual([]);
  });

  test('fails with the reason if there is no token', async () => {
    const harness = new Harness({ token: () => Promise.reject(new Error('signed out')) });
    await harness.dial();
    expect(harness.events[0]).toMatchObject({
      type: 'error',
      error: { code: 'cannot-open', message: expect.stringContaining('signed out') },
    });
    expect(harness.closes).toHaveLength(1);
  });

  test('signs the URL anew for each connection, with the token in it', async () => {
    let signatures = 0;
    const signUrl = async (url: string) => `${url}&X-Amz-Signature=${++signatures}`;
    const harness = new Harness({ token: () => 'secret', signUrl });
    await harness.dial();
    await harness.dial();
    expect(harness.sockets.map(({ url }) => url)).toEqual([
      'ws://gateway.test/mqtt?token=secret&X-Amz-Signature=1',
      'ws://gateway.test/mqtt?token=secret&X-Amz-Signature=2',
    ]);
  });

  test('fails with the reason if the URL cannot be signed', async () => {
    const harness = new Harness({ signUrl: () => Promise.reject(new Error('signed out')) });
    await harness.dial();
    expect(harness.events[0]).toMatchObject({
      type: 'error',
      error: { code: 'cannot-open', message: expect.stringContaining('signed out') },
    });
    expect(harness.sockets).toEqual([]);
  });

  test('ends with a handshake that failed, also on a platform that emits only an error', async () => {
    const harness = new Harness();
    await harness.dial();
    harness.gateway.failSilently(new Error('non-101 status code'));
    await harness.clock.runDue();
    expect(harness.closes).toHaveLength(1);
    expect(harness.events).toMatchObject([{ type: 'closed', code: 1006 }]);
  });

  test('fails if the server chooses none of the subprotocols', async () => {
    const harness = new Harness();
    await harness.dial();
    harness.gateway.open('mqttv3.1');
    await harness.clock.runDue();
    expect(harness.errors).toEqual(['wrong-subprotocol']);
    expect(harness.closes).toHaveLength(1);
  });

  test("passes mqtt.js's wsOptions to the WebSocket class", async () => {
    const harness = new Harness();
    harness.options.wsOptions = { rejectUnauthorized: false };
    await harness.dial();
    expect(harness.gateway.options).toEqual({ rejectUnauthorized: false });
  });

  test('sends the packets that were written before', async () => {
    const harness = new Harness();
    await harness.listen();
    await harness.write({ cmd: 'connect', clientId: 'c', protocolId: 'MQTT', protocolVersion: 4 });
    harness.gateway.open();
    await harness.clock.runDue();
    expect(harness.sent).toEqual(['connect']);
  });

  test('reports an error of the socket to both faces before its close', async () => {
    const harness = new Harness();
    await harness.dial();
    const told: unknown[] = [];
    harness.socket.once('error', (error: Error) => told.push(error.message));
    harness.socket.addEventListener('error', ({ error }: { error: Error }) => told.push(error.message));
    harness.socket.on('close', (code: number) => told.push(code));
    harness.gateway.fail(new Error('connect ECONNREFUSED'));
    await harness.clock.runDue();
    expect(told).toEqual(['connect ECONNREFUSED', 'connect ECONNREFUSED', 1006]);
  });
});

describe('the two faces', () => {
  test("carry an ArrayBuffer in a browser's events, and a Uint8Array in the emitter's", async () => {
    const harness = new Harness();
    await harness.connect();
    const told: unknown[] = [];
    harness.socket.addEventListener('message', ({ data }: { data: unknown }) => told.push(data));
    harness.socket.on('message', (data: unknown, isBinary: boolean) => told.push(data, isBinary));
    const once = (): void => {
      told.push('once');
    };
    harness.socket.once('message', once);
    await harness.push(publish('a'));
    await harness.push(publish('a'));
    const bytes = Uint8Array.from(harness.bytes([publish('a')]));
    expect(told).toEqual([bytes.buffer, bytes, true, 'once', bytes.buffer, bytes, true]);
  });

  test('let listeners be removed on either face', async () => {
    const harness = new Harness();
    await harness.connect();
    const told: string[] = [];
    const listener = (): void => {
      told.push('told');
    };
    harness.socket.on('message', listener);
    harness.socket.removeListener('message', listener);
    harness.socket.addEventListener('message', listener);
    harness.socket.removeEventListener('message', listener);
    await harness.push(publish('a'));
    expect(told).toEqual([]);
  });

  test('deliver later events after an error of a listener', async () => {
    const harness = new Harness();
    await harness.connect();
    await harness.write({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 'a', qos: 0 }] });
    await harness.push(publish('b'));
    harness.socket.once('message', () => {
      throw new Error("the application's own");
    });
    await expect(harness.reply([publish('a')])).rejects.toThrow("the application's own");
    await harness.write(publish('c'));
    expect(harness.topics).toEqual(['a', 'b']);
    expect(harness.sent).toEqual(['subscribe', 'c']);
  });

  test('tell the stream of ws that everything is written when the socket is closed', async () => {
    const harness = new Harness();
    await harness.connect();
    const told: string[] = [];
    harness.socket._socket.once('finish', () => told.push('finish'));
    harness.socket.once('close', () => told.push('close'));
    expect(harness.socket._socket._writableState.finished).toBe(false);
    await harness.write(disconnect);
    harness.socket.close();
    await harness.reply();
    expect(told).toEqual([]);
    harness.gateway.end(1000);
    await harness.clock.runDue();
    expect(told).toEqual(['finish', 'close']);
    expect(harness.socket._socket._writableState.finished).toBe(true);
  });
});

describe('backpressure', () => {
  test('counts in bufferedAmount the bytes that have not left, of MQTT and of the socket below', async () => {
    const harness = new Harness();
    await harness.connect();
    expect(harness.socket.bufferedAmount).toBe(0);
    await harness.write(publish('a'));
    await harness.write(publish('b', 0, 0, Buffer.alloc(100)));
    expect(harness.socket.bufferedAmount).toBe(105);
    harness.gateway.bufferedAmount = 7;
    expect(harness.socket.bufferedAmount).toBe(112);
    await harness.reply();
    expect(harness.socket.bufferedAmount).toBe(7);
    harness.socket.terminate();
    expect(harness.socket.bufferedAmount).toBe(0);
  });

  test('calls the callback of a write when there is room again', async () => {
    const harness = new Harness();
    await harness.connect();
    await harness.write(publish('a'));
    const full = harness.bytes([publish('b', 0, 0, Buffer.alloc(FRAME_BYTES_MAX - 7))]);
    const called: number[] = [];
    for (let frame = 1; frame <= 5; frame += 1) harness.socket.send(full, () => called.push(frame));
    expect(called).toEqual([1, 2, 3]);
    expect(harness.socket.bufferedAmount).toBe(WAITING_BYTES_HIGH + FRAME_BYTES_MAX);
    await harness.reply();
    expect(called).toEqual([1, 2, 3]);
    await harness.reply();
    expect(called).toEqual([1, 2, 3, 4, 5]);
  });

  test('copies what was written: its memory may be used again', async () => {
    const harness = new Harness();
    await harness.connect();
    const bytes = harness.bytes([publish('a', 0, 0, 'payload')]);
    const before = bytes.toString('base64');
    harness.socket.send(bytes);
    bytes.fill(0);
    await harness.clock.runDue();
    expect(harness.gateway.lastText).toBe(before);
  });
});

describe('packets over the limit of a frame (2)', () => {
  function client(pending: Record<number, (error: Error) => void>) {
    const outgoing = Object.fromEntries(Object.entries(pending).map(([id, cb]) => [id, { cb }]));
    const emitted: unknown[] = [];
    return {
      options: {},
      subscribe: () => {},
      disconnecting: false,
      outgoing,
      emitted,
      emit: (event: string, error?: Error & { code?: string }) => emitted.push(error?.code ?? event),
      removeOutgoingMessage(id: number) {
        const { [id]: entry } = outgoing;
        delete outgoing[id];
        entry?.cb(new Error('Message removed'));
      },
    };
  }
  const large = Buffer.alloc(24_573);

  test.each([1, 2] as const)(
    'fail the callback of a PUBLISH of QoS %i, and no other packet is lost',
    async (qos) => {
      const harness = new Harness();
      await harness.connect();
      const failures: Error[] = [];
      const mqttClient = client({ 5: (error) => failures.push(error) });
      harness.transport.attach(mqttClient);
      await harness.write(publish('a'), publish('b', qos, 5, large), publish('c'));
      expect(harness.sent).toEqual(['a c']);
      expect(failures).toMatchObject([
        { code: 'packet-too-large', message: expect.stringMatching(/24582 bytes.*24573/) },
      ]);
      expect(mqttClient.outgoing).toEqual({});
      expect(mqttClient.emitted).toEqual([]);
      expect(harness.errors).toEqual(['packet-too-large']);
      expect(harness.closes).toEqual([]);
    },
  );

  test('are an error of the client for a PUBLISH of QoS 0', async () => {
    const harness = new Harness();
    await harness.connect();
    const mqttClient = client({});
    harness.transport.attach(mqttClient);
    await harness.write(publish('b', 0, 0, large), publish('c'));
    expect(harness.sent).toEqual(['c']);
    expect(mqttClient.emitted).toEqual(['packet-too-large']);
  });

  test('fail the callback of a SUBSCRIBE', async () => {
    const harness = new Harness();
    await harness.connect();
    const failures: Error[] = [];
    harness.transport.attach(client({ 1: (error) => failures.push(error) }));
    const subscriptions = Array.from({ length: 200 }, (_, index) => ({
      topic: `${index}`.padEnd(150, 'x'),
      qos: 0 as const,
    }));
    await harness.write({ cmd: 'subscribe', messageId: 1, subscriptions });
    expect(harness.sent).toEqual([]);
    expect(failures).toMatchObject([{ code: 'packet-too-large' }]);
  });

  test('do not keep a client from ending', async () => {
    const harness = new Harness();
    await harness.connect();
    const mqttClient = client({ 5: () => {} });
    mqttClient.disconnecting = true;
    harness.transport.attach(mqttClient);
    await harness.write(publish('b', 1, 5, large));
    expect(mqttClient.emitted).toEqual(['outgoingEmpty']);
  });

  test('end the connection if it is CONNECT', async () => {
    const harness = new Harness();
    await harness.dial(undefined, { will: { topic: 'a', payload: large, qos: 0, retain: false } });
    expect(harness.sockets).toEqual([]);
    expect(harness.errors).toEqual(['packet-too-large']);
    expect(harness.closes).toHaveLength(1);
  });

  test('are skipped without being kept', async () => {
    const harness = new Harness();
    await harness.connect();
    const chunk = harness.bytes([publish('a', 1, 3, Buffer.alloc(1_000_000)), publish('b')]);
    for (let from = 0; from < chunk.length; from += 10_007) {
      harness.socket.send(chunk.subarray(from, from + 10_007));
      expect(harness.socket.bufferedAmount).toBeLessThan(100);
    }
    await harness.clock.runDue();
    expect(harness.sent).toEqual(['b']);
  });
});

test('statistics count frames, bytes, packets and billed messages', async () => {
  const harness = new Harness();
  await harness.connect();
  const before = { ...harness.transport.statistics };
  await harness.write(publish('a'), publish('b', 1, 1));
  await harness.reply([puback(1)]);
  await harness.push(publish('a', 0, 0, Buffer.alloc(40_000)));
  const { statistics } = harness.transport;
  expect(statistics.connections).toBe(1);
  expect(statistics.framesSent - before.framesSent).toBe(1);
  expect(statistics.bytesSent - before.bytesSent).toBe(16);
  expect(statistics.packetsSent - before.packetsSent).toBe(2);
  expect(statistics.framesReceived - before.framesReceived).toBe(2);
  expect(statistics.packetsReceived - before.packetsReceived).toBe(2);
  expect(statistics.bytesReceived - before.bytesReceived).toBe(9 + 53_344);
  expect(statistics.messagesBilled - before.messagesBilled).toBe(1 + 1 + 2);
});
