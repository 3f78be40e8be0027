import mqtt from 'mqtt';
import { describe, expect, test } from 'vitest';
import { clientFor, collector } from '../support/bridged.ts';
import { receiver, SIMPLY_OK, status } from '../support/receiver.ts';
import { api, LOOPBACK, ruledNode, ruleOf } from '../support/ruled.ts';

const hook = (url: string, others: object = {}) => ({
  webhook: { url, allowAddresses: LOOPBACK, ...others },
});

describe('a rule', () => {
  test('sends the messages that match its filter and its condition', async () => {
    const server = await receiver();
    const when = 'payload.t > 80.0 && user.region == "eu"';
    const node = await ruledNode([{ filter: 'sensors/+', when, to: hook(server.url) }]);
    const client = await clientFor(node.url);
    const properties = { userProperties: { region: 'eu' } };
    await client.publishAsync('sensors/a', '{"t":81}', { qos: 1, properties });
    await client.publishAsync('sensors/a', '{"t":79}', { qos: 1, properties });
    await client.publishAsync('sensors/a', '{"t":82}', { qos: 2, properties });
    await client.publishAsync('sensors/a', '{"t":83}', { qos: 1 });
    await client.publishAsync('sensors/a/b', '{"t":84}', { qos: 1, properties });
    await client.publishAsync('sensors/b', '{"t":85}', { qos: 0, properties });
    await expect.poll(() => server.payloads().sort()).toEqual(['{"t":81}', '{"t":82}', '{"t":85}']);
    expect(await ruleOf(node)).toMatchObject({
      ...{
        name: 'test',
        filter: 'sensors/+',
        when,
        type: 'webhook',
        remote: server.url,
        status: 'connected',
      },
      ...{ matched: 5, filtered: 1, condition_failed: 1, sent: 3, dead: 0, inflight: 0, waiting: 0 },
    });
  });

  test('keeps the order of a topic while its endpoint fails, stalls and dies', async () => {
    const server = await receiver();
    const node = await ruledNode([
      { filter: '#', to: hook(server.url, { timeoutSeconds: 1, batch: 7 }), retrySecondsMax: 1 },
    ]);
    const client = await clientFor(node.url);
    const numbers = Array.from({ length: 60 }, (_, index) => String(index));
    const [failing, dying] = [
      status(500),
      (_: unknown, response: { destroy(): void }) => void response.destroy(),
    ];
    const moods = [SIMPLY_OK, failing, SIMPLY_OK, () => {}, dying, SIMPLY_OK];
    for (const number of numbers) {
      if (Number(number) % 10 === 0) server.answer = moods[Number(number) / 10] ?? SIMPLY_OK;
      await client.publishAsync('a', number, { qos: 1 });
      await client.publishAsync('b', number, { qos: 1 });
    }
    server.answer = SIMPLY_OK;
    for (const topic of ['a', 'b'])
      await expect.poll(() => server.payloads(topic), { timeout: 20_000 }).toEqual(numbers);
  });

  test('does not stop the broker when it fails, and its dead letters can be read and sent again', async () => {
    const server = await receiver(status(400));
    const node = await ruledNode([{ filter: 'a/#', to: hook(server.url) }]);
    const { client, texts } = await collector(node.url, '#');
    for (const payload of ['1', '', '3']) await client.publishAsync('a/b', payload, { qos: 1 });
    await expect.poll(() => texts()).toEqual(['1', '', '3']);
    await expect.poll(async () => (await ruleOf(node)).dead_letters).toBe(3);
    expect(await ruleOf(node)).toMatchObject({
      ...{ status: 'disconnected', last_error: 'answered 400: no', dead: 3, inflight: 0 },
    });
    const { body } = await api(node, 'rules/test/dead_letters?limit=2');
    const { data, meta } = body as { data: { id: string }[]; meta: object };
    expect(meta).toEqual({ page: 1, limit: 2, count: 3, hasnext: true, next: '2' });
    expect(data[0]).toMatchObject({ topic: 'a/b', qos: 1, error: 'answered 400: no', attempts: 1 });
    const one = `rules/test/dead_letters/${data[0]?.id}`;
    expect((await api(node, one)).body).toMatchObject({ payload: Buffer.from('1').toString('base64') });
    expect(await api(node, `${one}/send`, 'POST')).toMatchObject({
      status: 502,
      body: { message: 'answered 400: no' },
    });
    expect((await api(node, one)).body).toMatchObject({ attempts: 2 });
    server.answer = SIMPLY_OK;
    expect(await api(node, `${one}/send`, 'POST')).toMatchObject({
      status: 200,
      body: { sent: 1, failed: 0 },
    });
    expect((await api(node, one)).status).toBe(404);
    expect(await api(node, `rules/test/dead_letters/${data[1]?.id}`, 'DELETE')).toMatchObject({
      status: 204,
    });
    expect((await api(node, 'rules/test/dead_letters/send', 'POST')).body).toEqual({ sent: 1, failed: 0 });
    expect(server.payloads()).toEqual(['1', '3']);
    expect(await ruleOf(node)).toMatchObject({ dead_letters: 0, sent: 2, status: 'connected' });
    expect((await api(node, 'rules/other/dead_letters')).status).toBe(404);
  });

  test('refuses publishers with 0x97 when its queue is full, and loses nothing', async () => {
    const server = await receiver(() => {});
    const node = await ruledNode(
      [{ filter: 'a', to: hook(server.url, { timeoutSeconds: 1 }), retrySecondsMax: 1 }],
      {
        queueLengthMax: 10,
      },
    );
    const client = await clientFor(node.url);
    const others = await Promise.all(Array.from({ length: 50 }, () => clientFor(node.url)));
    const [acknowledged, refused]: [string[], number[]] = [[], []];
    // One client leaves others room: here each has one message in the queue at most.
    const publish = (number: string) =>
      (others[Number(number) - 100] ?? client).publishAsync('a', number, { qos: 1 }).then(
        () => acknowledged.push(number),
        (error: mqtt.ErrorWithReasonCode) => refused.push(error.code),
      );
    for (let number = 0; number < 150; number += 1) await publish(String(number));
    expect(acknowledged.length).toBe(109);
    expect(new Set(refused)).toEqual(new Set([0x97]));
    await client.publishAsync('other', 'goes on', { qos: 1 });
    server.answer = SIMPLY_OK;
    await expect.poll(() => server.payloads(), { timeout: 20_000 }).toEqual(acknowledged);
  });

  test('leaves others room in its queue, whatever one user publishes, and gives it back [SEC-POOL-5]', async () => {
    const server = await receiver(() => {});
    const rule = { filter: 'a/#', to: hook(server.url, { timeoutSeconds: 1 }), retrySecondsMax: 1 };
    const node = await ruledNode([rule], { queueLengthMax: 100 });
    const publish = (client: mqtt.MqttClient) =>
      client.publishAsync('a/b', 'x', { qos: 1 }).then(
        () => 0,
        (error: mqtt.ErrorWithReasonCode) => error.code,
      );
    const taken = async (clientId: string, count: number) => {
      const client = await clientFor(node.url, { clientId });
      let answered = 0;
      for (let sent = 0; sent < count; sent += 1) answered += (await publish(client)) === 0 ? 1 : 0;
      return answered;
    };
    // A hundred are on their way, and 45 of the 90 that may wait are theirs.
    expect(await taken('greedy', 250)).toBe(100 + 45);
    expect(await taken('honest', 20)).toBe(20);
    server.answer = SIMPLY_OK;
    await expect.poll(() => server.payloads().length, { timeout: 20_000 }).toBe(165);
    expect(await taken('greedy', 10)).toBe(10);
  });

  test.each([1, 2] as const)(
    'refuses a client at QoS %i that has just come back to its session, and does not cut it',
    async (qos) => {
      const server = await receiver(() => {});
      const rule = { filter: 'a', to: hook(server.url, { timeoutSeconds: 1 }), retrySecondsMax: 1 };
      const node = await ruledNode([rule], { queueLengthMax: 10 });
      const kept = { clean: false, clientId: 'kept', properties: { sessionExpiryInterval: 60 } };
      const publish = (client: mqtt.MqttClient) =>
        client.publishAsync('a', 'x', { qos }).then(
          () => 0,
          (error: mqtt.ErrorWithReasonCode) => error.code,
        );
      const before = await clientFor(node.url, kept);
      while ((await publish(before)) === 0);
      await before.endAsync();
      const client = await clientFor(node.url, kept);
      let ended = 0;
      client.on('close', () => (ended += 1));
      expect(await publish(client)).toBe(0x97);
      await client.publishAsync('other', 'goes on', { qos });
      expect(ended).toBe(0);
    },
  );

  test.each([1, 2] as const)(
    'cuts a client of MQTT 3.1.1 at QoS %i, which has no refusal, until it has room',
    async (qos) => {
      const server = await receiver(() => {});
      const rule = { filter: 'a', to: hook(server.url, { timeoutSeconds: 1 }), retrySecondsMax: 1 };
      const node = await ruledNode([rule], { queueLengthMax: 10 });
      const fill = (filling: mqtt.MqttClient) =>
        filling.publishAsync('a', 'fills', { qos: 1 }).then(
          () => true,
          () => false,
        );
      // One client leaves others room.
      for (let isFull = false; !isFull; ) {
        const filling = await clientFor(node.url);
        isFull = !(await fill(filling));
        while (await fill(filling));
      }
      const client = await clientFor(node.url, { protocolVersion: 4, clean: false, clientId: 'old' });
      let ended = 0;
      client.on('close', () => (ended += 1));
      const publishing = client.publishAsync('a', 'comes once', { qos });
      await expect.poll(() => ended).toBeGreaterThan(1);
      server.answer = SIMPLY_OK;
      await publishing;
      await expect
        .poll(() => server.payloads().filter((text) => text === 'comes once'), { timeout: 20_000 })
        .toHaveLength(1);
    },
  );

  test('publishes to another topic, at once or later', async () => {
    const node = await ruledNode([
      { name: 'now', filter: 'in/+/temp', to: { publish: { topic: 'out/{2}/{topic}', retain: true } } },
      { name: 'later', filter: 'in/+/temp', to: { publish: { topic: 'later/{2}', delaySeconds: 1 } } },
    ]);
    const { client, packets } = await collector(node.url, '#');
    await client.publishAsync('in/kitchen/temp', '21', { qos: 1 });
    const topics = () => packets.map(({ topic, retain }) => `${topic}${retain ? ' retained' : ''}`);
    await expect
      .poll(topics, { timeout: 5_000 })
      .toEqual(['in/kitchen/temp', 'out/kitchen/in/kitchen/temp retained', 'later/kitchen']);
  });

  test('lets no publisher choose a topic that begins with $', async () => {
    const node = await ruledNode([{ filter: 'a/#', to: { publish: { topic: '{2}/{3}/{4}' } } }]);
    const { client, packets } = await collector(node.url, '#');
    await client.publishAsync('a/$delayed/0/x', '1', { qos: 1 });
    await expect.poll(async () => (await ruleOf(node)).dead).toBe(1);
    expect(await ruleOf(node)).toMatchObject({ last_error: 'its topic would be $delayed/0/x' });
    expect(packets.map(({ topic }) => topic)).toEqual(['a/$delayed/0/x']);
  });

  test('that publishes to its own filter loops as often as its hop limit allows', async () => {
    const node = await ruledNode([{ filter: 'a/#', to: { publish: { topic: 'a/x' } }, hopsMax: 3 }]);
    const { client, packets } = await collector(node.url, '#');
    await client.publishAsync('a/start', '1', { qos: 1 });
    await expect.poll(async () => (await ruleOf(node)).looped).toBe(1);
    expect(packets.map(({ topic }) => topic)).toEqual(['a/start', 'a/x', 'a/x', 'a/x']);
  });

  test('goes on after an operator has ended its session', async () => {
    const server = await receiver();
    const node = await ruledNode([{ filter: 'a', to: hook(server.url) }]);
    const client = await clientFor(node.url);
    expect((await api(node, 'clients/$rule%2Ftest', 'DELETE')).status).toBe(204);
    await client.publishAsync('a', '1', { qos: 1 });
    await expect.poll(() => server.payloads()).toEqual(['1']);
  });

  test('has a session that no client can take over', async () => {
    const node = await ruledNode([{ filter: 'a', to: { publish: { topic: 'b' } } }]);
    await expect(
      mqtt.connectAsync(node.url, { protocolVersion: 5, clientId: '$rule/test', reconnectPeriod: 0 }),
    ).rejects.toMatchObject({ code: expect.any(Number) });
    expect((await ruleOf(node)).status).toBe('connected');
  });
});
