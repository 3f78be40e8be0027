import { describe, expect, it } from 'vitest';
import { differsAt } from '../support/only-at.ts';
import { OPTIONS_NEED_OUR_DOOR, runningBrokerUrl } from '../support/start-door.ts';
import { unique } from '../support/unique.ts';
import { connect311Bytes, connectBytes, text } from './raw/hex.ts';
import { expectCloseWithoutPackets, expectMessage, propertiesOf, subscribe, usePeers } from './raw/peers.ts';

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

  it('refuse a CONNECT that is too large [MQTT-3.1.4-2]', async () => {
    const client = await peers.open();
    client.sendBytes(connectBytes({ payload: text('x'.repeat(300)) }));
    expect(await client.expect('connack')).toMatchObject({ reasonCode: 0x95 });
    await client.expectClose();
    const old = await peers.open(4);
    old.sendBytes(connect311Bytes({ payload: text('x'.repeat(300)) }));
    await expectCloseWithoutPackets(old);
  });
});

ownDoor(`the limits of a session (${OPTIONS_NEED_OUR_DOOR})`, () => {
  const peers = usePeers({
    subscriptionsPerSessionMax: 3,
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
