import { mqtt5 } from 'aws-iot-device-sdk-v2';
import { afterEach, describe, expect, test } from 'vitest';
import { onlyAt } from '../support/only-at.ts';
import { unique } from '../support/unique.ts';
import { useDoor } from './util/door-fixture.ts';
import { Inbox } from './util/inbox.ts';

const { AtMostOnce, AtLeastOnce } = mqtt5.QoS;

const door = useDoor();

type ConnectPacket = mqtt5.ConnectPacket;

interface Arrival {
  readonly topic: string;
  readonly payload: string;
  readonly packet: mqtt5.PublishPacket;
}

const open = new Set<AwsClient>();

afterEach(async () => {
  for (const client of open) await client.stop();
});

/**
 * The MQTT 5.0 client of AWS's device SDK, native code included. Without a TLS context it speaks plain `ws://`;
 * the handshake transform is what makes it use a WebSocket at all.
 */
class AwsClient {
  readonly arrivals = new Inbox<Arrival>();
  readonly #client: mqtt5.Mqtt5Client;
  readonly #connected = new Inbox<mqtt5.NegotiatedSettings>();
  readonly #stopped = new Inbox<unknown>();
  #isRunning = false;

  constructor(
    connectProperties: Partial<ConnectPacket> = {},
    behaviour: Partial<mqtt5.Mqtt5ClientConfig> = {},
  ) {
    const { hostname, port, pathname } = new URL(door.url);
    this.#client = new mqtt5.Mqtt5Client({
      hostName: hostname,
      port: Number(port),
      connectProperties: { clientId: unique('aws'), keepAliveIntervalSeconds: 60, ...connectProperties },
      websocketHandshakeTransform: (request, done) => {
        request.path = pathname;
        done();
      },
      ...behaviour,
    });
    this.#client.on('connectionSuccess', ({ settings }) => this.#connected.push(settings));
    this.#client.on('stopped', this.#stopped.push);
    this.#client.on('messageReceived', ({ message }) => {
      const bytes = message.payload as ArrayBuffer | undefined;
      // The buffer of an empty payload is a detached one.
      const payload = bytes === undefined || bytes.byteLength === 0 ? '' : Buffer.from(bytes).toString();
      this.arrivals.push({ topic: message.topicName, payload, packet: message });
    });
  }

  async start(): Promise<mqtt5.NegotiatedSettings> {
    this.#isRunning = true;
    open.add(this);
    this.#client.start();
    return this.#connected.next();
  }

  /** Ends the connection with a DISCONNECT where one is given, else without; frees what is native. */
  async stop(disconnect?: mqtt5.DisconnectPacket): Promise<void> {
    if (!this.#isRunning) return;
    this.#isRunning = false;
    open.delete(this);
    this.#client.stop(disconnect);
    await this.#stopped.next();
    this.#client.close();
  }

  async subscribe(topicFilter: string, qos: mqtt5.QoS): Promise<mqtt5.SubackReasonCode[]> {
    return (await this.#client.subscribe({ subscriptions: [{ topicFilter, qos }] })).reasonCodes;
  }

  async unsubscribe(topicFilter: string): Promise<mqtt5.UnsubackReasonCode[]> {
    return (await this.#client.unsubscribe({ topicFilters: [topicFilter] })).reasonCodes;
  }

  publish(packet: mqtt5.PublishPacket): Promise<mqtt5.PublishCompletionResult> {
    return this.#client.publish(packet);
  }
}

async function started(...options: ConstructorParameters<typeof AwsClient>): Promise<AwsClient> {
  const client = new AwsClient(...options);
  await client.start();
  return client;
}

describe(
  'The MQTT 5.0 client of AWS IoT’s device SDK',
  onlyAt('node', 'it speaks binary frames and no others'),
  () => {
    test('connects and is told the capabilities of the broker', async () => {
      const clientId = unique('aws');
      const settings = await new AwsClient({ clientId }).start();
      expect(settings).toMatchObject({
        clientId,
        rejoinedSession: false,
        retainAvailable: true,
        sharedSubscriptionsAvailable: true,
        wildcardSubscriptionsAvailable: true,
        subscriptionIdentifiersAvailable: true,
      });
    });

    for (const qos of [AtMostOnce, AtLeastOnce]) {
      test(`subscribes and publishes at QoS ${qos}, with properties`, async () => {
        const topic = unique('t');
        const [subscriber, publisher] = [await started(), await started()];
        expect(await subscriber.subscribe(`${topic}/#`, qos)).toEqual([qos]);
        const result = await publisher.publish({
          topicName: `${topic}/a`,
          qos,
          payload: 'text',
          contentType: 'text/plain',
          responseTopic: 'reply',
          userProperties: [
            { name: 'b', value: '1' },
            { name: 'a', value: '2' },
            { name: 'b', value: '3' },
          ],
        });
        if (qos === AtLeastOnce) expect(result?.reasonCode).toBe(mqtt5.PubackReasonCode.Success);
        const { topic: topicName, payload, packet } = await subscriber.arrivals.next();
        expect({ topicName, payload }).toEqual({ topicName: `${topic}/a`, payload: 'text' });
        expect(packet).toMatchObject({ qos, contentType: 'text/plain', responseTopic: 'reply' });
        expect(packet.userProperties?.map(({ name, value }) => `${name}${value}`)).toEqual([
          'b1',
          'a2',
          'b3',
        ]);
      });
    }

    test('is told that there are no subscribers', async () => {
      const publisher = await started();
      const result = await publisher.publish({ topicName: unique('t'), qos: AtLeastOnce, payload: 'x' });
      expect(result?.reasonCode).toBe(mqtt5.PubackReasonCode.NoMatchingSubscribers);
    });

    test('has its will published when it asks for that, and not after a plain DISCONNECT', async () => {
      const topic = unique('t');
      const watcher = await started();
      await watcher.subscribe(`${topic}/#`, AtLeastOnce);
      const will = (name: string) => ({ topicName: `${topic}/${name}`, qos: AtLeastOnce, payload: name });
      const polite = await started({ will: will('polite') });
      const leaving = await started({ will: will('leaving') });
      await polite.stop({ reasonCode: mqtt5.DisconnectReasonCode.NormalDisconnection });
      await leaving.stop({ reasonCode: mqtt5.DisconnectReasonCode.DisconnectWithWillMessage });
      expect(await watcher.arrivals.next()).toMatchObject({ topic: `${topic}/leaving`, payload: 'leaving' });
      expect(watcher.arrivals.size).toBe(0);
    });

    test('finds its session again, with its subscription and the messages that waited', async () => {
      const topic = unique('t');
      const session = { clientId: unique('aws'), sessionExpiryIntervalSeconds: 60 };
      const rejoin = { sessionBehavior: mqtt5.ClientSessionBehavior.RejoinAlways };
      const before = await started(session, rejoin);
      await before.subscribe(topic, AtLeastOnce);
      await before.stop({ reasonCode: mqtt5.DisconnectReasonCode.NormalDisconnection });
      const publisher = await started();
      for (const payload of ['1', '2'])
        await publisher.publish({ topicName: topic, qos: AtLeastOnce, payload });
      const after = new AwsClient(session, rejoin);
      expect((await after.start()).rejoinedSession).toBe(true);
      expect((await after.arrivals.take(2)).map(({ payload }) => payload)).toEqual(['1', '2']);
    });
  },
);
