import { authenticationOf } from '@apus/aws/lambda';
import { connect as connectInTextFrames } from '@apus/client';
import type { IamCaller } from '@apus/emulated-aws';
import { signConnectUrl } from '@apus/publish';
import * as mqtt from 'mqtt';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type CloudWorld, startCloud } from './start-cloud.ts';

// All of a deployment is of this process: on a busy machine its tests take many seconds.
vi.setConfig({ testTimeout: 120_000 });

const log = { debug() {}, info() {}, warn() {}, error() {} };

function callerOf(session: string): IamCaller {
  return {
    credentials: {
      accessKeyId: `ASIA${session.toUpperCase()}`,
      secretAccessKey: `secret of ${session}`,
      sessionToken: `token/of+${session}==`,
    },
    identity: {
      accountId: '123456789012',
      caller: `AROAEXAMPLE:${session}`,
      user: `AROAEXAMPLE:${session}`,
      userArn: `arn:aws:sts::123456789012:assumed-role/Clients/${session}`,
    },
  };
}

const ADA = callerOf('ada');
const BOB = callerOf('bob');
const STRANGER = callerOf('stranger');

let world: CloudWorld;
const clients: mqtt.MqttClient[] = [];

beforeEach(async () => {
  const iam = { publish: ['%u/#'], subscribe: ['%u/#', 'news'] };
  const variables = { APUS_IDENTITY: JSON.stringify({ iam }) };
  const authentication = authenticationOf(variables, { clock: { now: Date.now }, log });
  world = await startCloud({ seed: 7, iamCallers: [ADA, BOB], ...authentication });
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.endAsync(true)));
  await world.emulator.quiet();
  await world.stop();
  expect(world.failures).toEqual([]);
});

/** A client of mqtt.js whose backend signs for it with a caller's credentials. */
function clientOf({ credentials }: IamCaller, options: mqtt.IClientOptions = {}): mqtt.MqttClient {
  const client = connectInTextFrames(
    mqtt,
    world.url,
    { protocolVersion: 5, reconnectPeriod: 0, ...options },
    { signUrl: (url) => signConnectUrl(url, { credentials, region: 'us-east-1' }) },
  );
  clients.push(client);
  return client;
}

async function connect(caller: IamCaller, options: mqtt.IClientOptions = {}): Promise<mqtt.MqttClient> {
  const client = clientOf(caller, options);
  await new Promise<void>((resolve, reject) => {
    client.once('connect', () => resolve());
    client.once('error', reject);
  });
  return client;
}

describe('a client whose handshake is signed with credentials of AWS', () => {
  it('has the identity of its signer, and may do what the deployment allows', async () => {
    const ada = await connect(ADA);
    const received = new Promise<string>((resolve) => {
      ada.on('message', (topic, payload) => resolve(`${topic} ${payload}`));
    });
    const [granted, refused] = await Promise.all([
      ada.subscribeAsync('Clients:ada/#', { qos: 1 }),
      ada.subscribeAsync('Clients:bob/#', { qos: 1 }).catch((error: Error) => error),
    ]);
    expect(granted).toMatchObject([{ qos: 1 }]);
    expect(refused).toBeInstanceOf(Error);
    await ada.publishAsync('Clients:ada/hello', 'world', { qos: 1 });
    expect(await received).toBe('Clients:ada/hello world');
    await expect(ada.publishAsync('Clients:bob/hello', 'world', { qos: 1 })).rejects.toMatchObject({
      code: 0x87,
    });
  });

  it('owns its session: another session of the same role does not get it', async () => {
    const clientId = 'Clients:ada';
    const lasting = { clientId, clean: false, properties: { sessionExpiryInterval: 3_600 } };
    await connect(ADA, lasting);
    await expect(connect(BOB, lasting)).rejects.toMatchObject({ code: 0x85 });
    await expect(connect(BOB, { clientId, clean: true })).rejects.toMatchObject({ code: 0x87 });
  });

  it('signs anew when it connects again', async () => {
    const ada = await connect(ADA, { reconnectPeriod: 1 });
    const again = new Promise<void>((resolve) => ada.once('connect', () => resolve()));
    const [id = ''] = world.emulator.connectionIds();
    world.emulator.loseConnection(id);
    ada.reconnect();
    await again;
  });

  it('is refused when it did not sign, or when no caller of the account did [SEC-IAM-2]', async () => {
    const closed = (client: mqtt.MqttClient) =>
      new Promise((resolve) => client.once('close', () => resolve('closed')));
    expect(await closed(clientOf(STRANGER))).toBe('closed');
    const unsigned = connectInTextFrames(mqtt, world.url, { reconnectPeriod: 0 });
    clients.push(unsigned);
    expect(await closed(unsigned)).toBe('closed');
    expect(world.emulator.counters.snapshot().invocations).toEqual({});
  });
});
