import { describe, expect, it } from 'vitest';
import { differsAt, onlyAt } from '../support/only-at.ts';
import { OPTIONS_NEED_OUR_DOOR, runningBrokerUrl } from '../support/start-door.ts';
import { unique } from '../support/unique.ts';
import { connect311Bytes, connectBytes, control, properties, text } from './raw/hex.ts';
import {
  expectCloseWithoutPackets,
  expectDisconnect,
  expectMessage,
  propertiesOf,
  publish,
  subscribe,
  usePeers,
} from './raw/peers.ts';

const ownDoor = describe.skipIf(runningBrokerUrl !== undefined);

const NO_ALIASES = 'another process may handle the next frame, and would not know the alias';

ownDoor(`the limits that CONNACK announces (${OPTIONS_NEED_OUR_DOOR})`, () => {
  const peers = usePeers({
    receiveMaximum: 2,
    maximumPacketSize: 200,
    topicAliasMaximum: 3,
    sessionExpirySecondsMax: 10,
  });

  it('are in the CONNACK of MQTT 5.0, and not in that of MQTT 3.1.1 [MQTT-3.2.2-15] [MQTT-3.2.2-17]', async () => {
    const { connack } = await peers.connect();
    expect(propertiesOf(connack)).toMatchObject({
      receiveMaximum: 2,
      maximumPacketSize: 200,
      ...(!differsAt('gateway', NO_ALIASES) && { topicAliasMaximum: 3 }),
    });
    const old = await peers.connect({ protocolVersion: 4 });
    expect(old.client.bytesOf(old.connack).length).toBe(4);
  });

  it('shorten a Session Expiry Interval and say so; a shorter one is left alone [MQTT-3.1.2-23]', async () => {
    const asked = async (sessionExpiryInterval: number) =>
      propertiesOf((await peers.connect({ properties: { sessionExpiryInterval } })).connack)
        .sessionExpiryInterval;
    expect(await asked(11)).toBe(10);
    expect(await asked(0xffff_ffff)).toBe(10);
    expect((await asked(9)) ?? 9).toBe(9);
  });

  /** PUBLISH at QoS 0 that is exactly this long, over 129 bytes. */
  const publishOf = (topic: string, bytes: number) =>
    control('30', text(topic), '00', '78'.repeat(bytes - 3 - 2 - topic.length - 1));

  it('take a packet of the Maximum Packet Size, and answer one byte more with 0x95 [MQTT-3.2.2-15] [MQTT-4.13.2-1]', async () => {
    const topic = unique('size');
    const watcher = await peers.subscriber(topic);
    const { client } = await peers.connect();
    client.sendBytes(publishOf(topic, 200));
    expect(watcher.bytesOf(await watcher.expect('publish')).length).toBe(200);
    client.sendBytes(publishOf(topic, 201));
    await expectDisconnect(client, 0x95);
    await watcher.expectNothing();
  });

  it('answer with 0x95 before all of a packet that is too large has come', async () => {
    const { client } = await peers.connect();
    client.sendBytes('30 ff ff ff 7f 00');
    await expectDisconnect(client, 0x95);
  });

  it('refuse a CONNECT that is too large [MQTT-3.1.4-2]', async () => {
    const client = await peers.open();
    client.sendBytes(connectBytes({ payload: text('x'.repeat(300)) }));
    expect(await client.expect('connack')).toMatchObject({ reasonCode: 0x95 });
    await client.expectClose();
    const old = await peers.open(4);
    old.sendBytes(connect311Bytes({ payload: text('x'.repeat(300)) }));
    await expectCloseWithoutPackets(old);
  });

  it('end a connection with 0x93 that exceeds the Receive Maximum [MQTT-3.3.4-7]', async () => {
    const topic = unique('flow');
    const { client } = await peers.connect();
    for (const messageId of [1, 2]) {
      client.send({ cmd: 'publish', topic, payload: 'x', qos: 2, messageId });
      await client.expect('pubrec');
    }
    client.send({ cmd: 'publish', topic, payload: 'x', qos: 2, messageId: 3 });
    await expectDisconnect(client, 0x93);
  });

  it('count a QoS 2 message until PUBCOMP, and a repetition of it once [MQTT-3.3.4-7]', async () => {
    const topic = unique('flow');
    const { client } = await peers.connect();
    const send = async (messageId: number, dup = false): Promise<void> => {
      client.send({ cmd: 'publish', topic, payload: 'x', qos: 2, messageId, dup });
      await client.expect('pubrec');
    };
    await send(1);
    await send(2);
    await send(2, true);
    client.send({ cmd: 'pubrel', messageId: 1 });
    await client.expect('pubcomp');
    await send(3);
    await client.expectNothing();
  });

  it(
    'take the Topic Alias Maximum as an alias, and answer one more with 0x94 [MQTT-3.3.2-12] [MQTT-3.3.2-9]',
    onlyAt('node', NO_ALIASES),
    async () => {
      const topic = unique('alias');
      const watcher = await peers.subscriber(topic);
      const { client } = await peers.connect();
      await publish(client, { topic, payload: 'x', properties: { topicAlias: 3 } });
      await expectMessage(watcher, 'x');
      client.sendBytes(control('30', text(topic), properties('23 0004'), '78'));
      await expectDisconnect(client, 0x94);
      await watcher.expectNothing();
    },
  );
});

ownDoor(`the limits of a session (${OPTIONS_NEED_OUR_DOOR})`, () => {
  const peers = usePeers({
    subscriptionsPerSessionMax: 3,
    topicLevelsMax: 4,
    queueLengthMax: 3,
    queueWhenFull: 'drop-oldest',
    clientIdLengthMax: 30,
    willPayloadBytesMax: 10,
  });

  it('answer a subscription too many with 0x97; replacing one and making room are allowed [MQTT-3.9.3-2]', async () => {
    const root = unique('many');
    const { client } = await peers.connect();
    for (const level of ['a', 'b', 'c']) expect(await subscribe(client, `${root}/${level}`)).toBe(0);
    expect(await subscribe(client, `${root}/d`)).toBe(0x97);
    expect(await subscribe(client, `${root}/c`, { qos: 1 })).toBe(1);
    client.send({ cmd: 'unsubscribe', messageId: 2, unsubscriptions: [`${root}/a`] });
    await client.expect('unsuback');
    expect(await subscribe(client, `${root}/d`)).toBe(0);
  });

  it('answer a filter of too many levels with 0x8F [MQTT-3.9.3-2]', async () => {
    const { client } = await peers.connect();
    expect(await subscribe(client, `${unique('deep')}/2/3/4`)).toBe(0);
    expect(await subscribe(client, `${unique('deep')}/2/3/4/5`)).toBe(0x8f);
  });

  it('answer a topic of too many levels with 0x90, in PUBACK or DISCONNECT [MQTT-3.4.2-1]', async () => {
    const { client } = await peers.connect();
    await publish(client, { topic: `${unique('deep')}/2/3/4`, qos: 1 });
    client.send({ cmd: 'publish', topic: `${unique('deep')}/2/3/4/5`, payload: '', qos: 1, messageId: 2 });
    const answer = await client.next();
    expect(['puback', 'disconnect']).toContain(answer.cmd);
    expect(answer.reasonCode).toBe(0x90);
  });

  it('drop the oldest messages of a full queue, in their order', async () => {
    const topic = unique('full');
    const session = { clientId: unique('full'), properties: { sessionExpiryInterval: 60 } };
    const first = await peers.connect(session);
    await subscribe(first.client, topic, { qos: 1 });
    await first.client.disconnect();
    const { client: publisher } = await peers.connect();
    for (const payload of ['1', '2', '3', '4', '5']) await publish(publisher, { topic, payload, qos: 1 });
    const { client } = await peers.connect({ ...session, clean: false });
    for (const payload of ['3', '4', '5']) await expectMessage(client, payload);
    await client.expectNothing();
  });

  it('refuse a will whose payload is too large with 0x95, in MQTT 3.1.1 with the close [MQTT-3.1.4-2]', async () => {
    const willOf = (payload: string) => ({ topic: unique('will'), payload, qos: 0, retain: false });
    const { connack } = await peers.connect({ will: willOf('x'.repeat(10)) });
    expect(connack.reasonCode).toBe(0);
    const refused = await peers.connect({ will: willOf('x'.repeat(11)) });
    expect(refused.connack.reasonCode).toBe(0x95);
    await refused.client.expectClose();
    const old = await peers.open(4);
    // A client identifier, the will's topic, eleven bytes.
    old.sendBytes(
      connect311Bytes({ flags: '06', payload: `${text('a')}${text('t')}${text('x'.repeat(11))}` }),
    );
    await expectCloseWithoutPackets(old);
  });

  it('reject a client identifier that is too long with 0x85, in MQTT 3.1.1 with 2 [MQTT-3.1.3-8] [MQTT3-3.1.3-9]', async () => {
    const { connack } = await peers.connect({ clientId: 'x'.repeat(30) });
    expect(connack.reasonCode).toBe(0);
    const tooLong = text('x'.repeat(31));
    const client = await peers.open();
    client.sendBytes(connectBytes({ payload: tooLong }));
    expect((await client.expect('connack')).reasonCode).toBe(0x85);
    await client.expectClose();
    const old = await peers.open(4);
    old.sendBytes(connect311Bytes({ payload: tooLong }));
    expect((await old.expect('connack')).returnCode).toBe(2);
    await old.expectClose();
  });
});

ownDoor.concurrent(`the limits of time (${OPTIONS_NEED_OUR_DOOR})`, () => {
  const peers = usePeers({ connectTimeoutSeconds: 1, sessionExpirySecondsMax: 1 });

  it.each([
    ['nothing', ''],
    ['half a CONNECT', '10 0e 0004 4d51'],
  ])('close a connection that sends %s instead of CONNECT [MQTT-3.14.0-1]', async (_, bytes) => {
    const client = await peers.open();
    client.sendBytes(bytes);
    await expectCloseWithoutPackets(client);
  });

  it('end a session that asked for more, and its will is published then [MQTT-4.1.0-2] [MQTT-3.1.2-8]', async () => {
    const clientId = unique('capped');
    const topic = unique('capped');
    const watcher = await peers.subscriber(topic);
    const { client } = await peers.connect({
      clientId,
      properties: { sessionExpiryInterval: 600 },
      will: { topic, payload: 'gone', qos: 0, retain: false, properties: { willDelayInterval: 600 } },
    });
    await client.vanish();
    await expectMessage(watcher, 'gone');
    const { connack } = await peers.connect({ clientId, clean: false });
    expect(connack.sessionPresent).toBe(false);
  });
});

ownDoor(`a queue that keeps its oldest messages (${OPTIONS_NEED_OUR_DOOR})`, () => {
  const peers = usePeers({ queueLengthMax: 3, queueWhenFull: 'drop-newest' });

  it('drops the newest message when it is full', async () => {
    const topic = unique('full');
    const session = { clientId: unique('full'), properties: { sessionExpiryInterval: 60 } };
    const first = await peers.connect(session);
    await subscribe(first.client, topic, { qos: 1 });
    await first.client.disconnect();
    const { client: publisher } = await peers.connect();
    for (const payload of ['1', '2', '3', '4', '5']) await publish(publisher, { topic, payload, qos: 1 });
    const { client } = await peers.connect({ ...session, clean: false });
    for (const payload of ['1', '2', '3']) await expectMessage(client, payload);
    await client.expectNothing();
  });
});
