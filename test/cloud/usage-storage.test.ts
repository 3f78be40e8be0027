import { rulesAuthorizer, type UsageLine } from '@apus/broker';
import { connect as connectInTextFrames } from '@apus/client';
import * as mqtt from 'mqtt';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { VirtualTime } from '../faults/virtual-time.ts';
import { tenantsByUsername } from '../support/tenants/program.ts';
import { type InProcessWorld, startCloudInProcess } from './start-cloud-in-process.ts';

/** A machine that is busy may take its time; in virtual time it takes none. */
const TIMEOUT_MS = 240_000;
const HOUR_MS = 3_600_000;
const MESSAGES = 60;
const MESSAGE_BYTES = 20_000;
const RETAINED_BYTES = MESSAGES * MESSAGE_BYTES;
/** A tenant's number of retained bytes is sampled, and corrected once a day beyond this. */
const NEAR_ENOUGH_BYTES = 256 * 1_024;
const WAITING_BYTES = 5_000;

let time: VirtualTime;
let world: InProcessWorld;

beforeEach(async () => {
  time = new VirtualTime(5);
  world = await time.during(
    startCloudInProcess({
      ...{ seed: 5, usage: true, authenticator: tenantsByUsername, authorizer: rulesAuthorizer },
    }),
  );
});

afterEach(async () => {
  await time.advance(1_000);
  world.stop();
  time.restore();
  expect(world.failures).toEqual([]);
});

function connect(tenant: string, clientId: string, clean: boolean): mqtt.MqttClient {
  const client = connectInTextFrames(
    mqtt,
    world.url,
    {
      ...{ protocolVersion: 5, reconnectPeriod: 0, clientId, clean },
      ...{ username: `${tenant}/${clientId}`, password: 'x' },
      ...(!clean && { properties: { sessionExpiryInterval: 7 * 86_400 } }),
    },
    { WebSocket: world.emulator.WebSocket, page: {} },
  );
  client.on('error', () => {});
  return client;
}

async function storage(): Promise<ReadonlyMap<string, UsageLine>> {
  const { body } = await time.during(world.operate('GET', '/usage', { query: '?from=2026-01&to=2026-02' }));
  const { data } = body as { readonly data: readonly UsageLine[] };
  return new Map(data.map((line) => [line.tenant, line]));
}

it(
  'a deployment counts what tenants store: retained messages by the sweep, waiting ones once a day',
  async () => {
    const reader = connect('acme', 'reader', false);
    reader.on('connect', () => reader.subscribe('queue', { qos: 1 }));
    await time.advance(10_000);
    reader.end();
    await time.advance(10_000);
    const [acme, globex] = [connect('acme', 'publisher', true), connect('globex', 'publisher', true)];
    await time.advance(5_000);
    for (let index = 0; index < MESSAGES; index += 1) {
      acme.publish(`state/${index}`, 'x'.repeat(MESSAGE_BYTES), { qos: 1, retain: true });
      await time.advance(1_000);
    }
    acme.publish('queue', 'y'.repeat(WAITING_BYTES), { qos: 1 });
    globex.publish('queue', 'z', { qos: 1 });
    await time.advance(10_000);
    for (const client of [acme, globex]) client.end();
    const began = Date.now();
    while (Date.now() - began < 25 * HOUR_MS) await time.advance(HOUR_MS / 2);
    const lines = await storage();
    const seconds = (Date.now() - began) / 1_000;
    const stored = lines.get('acme')?.storageByteSeconds ?? 0;
    // The last pass has waiting messages of the day before it; retained ones have those of each ten minutes.
    const waiting = WAITING_BYTES * 86_400;
    expect(stored).toBeGreaterThan((RETAINED_BYTES - NEAR_ENOUGH_BYTES) * (seconds - 1_800) + waiting);
    expect(stored).toBeLessThan((RETAINED_BYTES * 1.02 + NEAR_ENOUGH_BYTES) * seconds + 1.1 * waiting);
    expect(lines.get('globex')?.storageByteSeconds).toBe(0);
    // A row of the sweep says for sure what it says.
    expect(lines.get('acme')?.uncertainMs).toBeLessThan(120_000);
  },
  TIMEOUT_MS,
);
