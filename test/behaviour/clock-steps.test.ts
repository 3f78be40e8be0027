import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { OPTIONS_NEED_OUR_DOOR, runningBrokerUrl } from '../support/start-door.ts';
import { unique } from '../support/unique.ts';
import { brokerTime } from './raw/broker-time.ts';
import { expectMessage, publish, subscribe, usePeers } from './raw/peers.ts';

const HOUR_MS = 3_600_000;

/** Sets the wall clock of this process, which is the broker's too, until the test ends. */
function stepWallClock(ms: number): void {
  const now = Date.now.bind(Date);
  const set = vi.spyOn(Date, 'now').mockImplementation(() => now() + ms);
  onTestFinished(() => void set.mockRestore());
}

describe.skipIf(runningBrokerUrl !== undefined).each([
  ['back by an hour', -HOUR_MS],
  ['forward by an hour', HOUR_MS],
])(`where the wall clock steps %s (${OPTIONS_NEED_OUR_DOOR})`, (_, stepMs) => {
  const peers = usePeers({ connectTimeoutSeconds: 2 });

  it('clients are read, answered and let in, and those within their Keep Alive stay', async () => {
    const topic = unique('step');
    const { client: subscriber } = await peers.connect({ keepalive: 60 });
    await subscribe(subscriber, topic, { qos: 1 });
    const { client: publisher } = await peers.connect({ keepalive: 60 });
    for (let count = 0; count < 50; count += 1)
      publisher.send({ cmd: 'publish', topic, payload: 'x', qos: 0 });
    await publish(publisher, { topic, payload: 'before', qos: 1 });
    stepWallClock(stepMs);
    await publish(publisher, { topic, payload: 'after', qos: 1 });
    await brokerTime(peers, 1);
    await publisher.expectNothing();
    for (let count = 0; count < 50; count += 1) await expectMessage(subscriber, 'x');
    await expectMessage(subscriber, 'before');
    await expectMessage(subscriber, 'after');
    await subscriber.expectNothing();
  });

  it('sessions last as long as before, with their messages, and a connection without CONNECT is closed', async () => {
    const topic = unique('step');
    const connect = (seconds: number) => ({
      clientId: `${topic}-${seconds}`,
      clean: false,
      properties: { sessionExpiryInterval: seconds },
    });
    for (const seconds of [1, 600]) {
      const { client } = await peers.connect(connect(seconds));
      await subscribe(client, topic, { qos: 1 });
      await client.disconnect();
    }
    const { client: publisher } = await peers.connect();
    await publish(publisher, { topic, payload: 'kept', qos: 1 });
    const silent = await peers.open();
    stepWallClock(stepMs);
    await brokerTime(peers, 2);
    expect((await peers.connect(connect(1))).connack.sessionPresent).toBe(false);
    const { client, connack } = await peers.connect(connect(600));
    expect(connack.sessionPresent).toBe(true);
    await expectMessage(client, 'kept');
    await silent.expectClose();
  });
});
