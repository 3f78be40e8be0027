import { type RunningDoors, startDoors } from '@apus/cli';
import { connect as connectInTextFrames, type TransportEvent } from '@apus/client';
import { mintToken, parseIdentity } from '@apus/identity';
import * as mqtt from 'mqtt';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PATIENCE_MS } from '../support/patience.ts';

const SECRET = '0123456789abcdef0123456789abcdef';
const LIFE_SECONDS = 600;
const STEP_MS = 1_000;

let node: RunningDoors;
let client: mqtt.MqttClient;

/** The test controls the clock of client and broker, which run in this process. The network between them is real. */
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] });
  const identity = parseIdentity(
    JSON.stringify({
      authenticators: [{ jwt: { secret: SECRET, defaultRules: { publish: ['#'], subscribe: ['#'] } } }],
    }),
    'identity.json',
  );
  node = await startDoors({ port: 0, gatewayPort: 0, identity, logLevel: 'silent' });
});
afterEach(async () => {
  client.end(true);
  const stopped = node.stop();
  let isStopped = false;
  void stopped.then(() => {
    isStopped = true;
  });
  await until(() => isStopped, STEP_MS);
  vi.useRealTimers();
});

/** Waits for the network while the clock hardly moves. */
async function until(isTrue: () => boolean, stepMs = 1): Promise<void> {
  const startMs = performance.now();
  while (!isTrue()) {
    if (performance.now() - startMs > PATIENCE_MS) throw new Error('it did not happen');
    vi.advanceTimersByTime(stepMs);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('stock mqtt.js runs through three lifetimes of its token at the gateway door, and notices nothing', async () => {
  const events: TransportEvent['type'][] = [];
  const noticed: string[] = [];
  const ends: number[] = [];
  const received: string[] = [];
  client = connectInTextFrames(
    mqtt,
    node.gateway?.url ?? '',
    { protocolVersion: 5, clientId: 'ada', reconnectPeriod: 0 },
    {
      page: {},
      token: async () => {
        ends.push(Math.floor(Date.now() / 1_000) + LIFE_SECONDS);
        const nowMs = Date.now();
        return await mintToken(Buffer.from(SECRET), { sub: 'ada', expiresInSeconds: LIFE_SECONDS, nowMs });
      },
      onEvent: ({ type }) => void events.push(type),
    },
  );
  for (const name of ['close', 'disconnect', 'error', 'offline', 'reconnect'] as const)
    client.on(name, () => void noticed.push(name));
  client.on('message', (_topic, payload) => void received.push(payload.toString()));
  await until(() => client.connected);
  let isSubscribed = false;
  client.subscribe('news', { qos: 1 }, () => {
    isSubscribed = true;
  });
  // The clock moves in long steps below: no reply may be in flight then.
  await until(() => isSubscribed);
  const renewals = () => events.filter((type) => type === 'renewed').length;
  for (let lifetime = 1; lifetime <= 3; lifetime += 1) {
    const endsAtSeconds = ends.at(-1) ?? 0;
    // Moves the clock only until the client asks for a token, and then waits for the network.
    while (ends.length === lifetime && Date.now() < endsAtSeconds * 1_000) {
      vi.advanceTimersByTime(STEP_MS);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await until(() => renewals() === lifetime);
    // Past the end of the former token, and past the moment at which the broker checks it.
    const pastEndMs = endsAtSeconds * 1_000 - Date.now() + 5_000;
    for (let passedMs = 0; passedMs < pastEndMs && ends.length === lifetime + 1; passedMs += STEP_MS) {
      vi.advanceTimersByTime(STEP_MS);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(Date.now()).toBeGreaterThan(endsAtSeconds * 1_000);
    client.publish('news', `after token ${lifetime}`, { qos: 1 });
    await until(() => received.length === lifetime);
  }
  expect(received).toEqual(['after token 1', 'after token 2', 'after token 3']);
  expect(noticed).toEqual([]);
});
