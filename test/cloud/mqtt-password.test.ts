import { authenticationOf, type Cloud, type ConnectDeadline } from '@apus/aws/lambda';
import { connect as connectInTextFrames } from '@apus/client';
import * as mqtt from 'mqtt';
import { generate } from 'mqtt-packet';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { VirtualTime } from '../faults/virtual-time.ts';
import { TIMERS } from './names.ts';
import type { Alterations } from './options.ts';
import { type InProcessWorld, startCloudInProcess } from './start-cloud-in-process.ts';

// A deployment with all of its functions, in one process.
vi.setConfig({ testTimeout: 120_000 });

const log = { debug() {}, info() {}, warn() {}, error() {} };
const KEY = 'k'.repeat(40);
const CONNECT = {
  ...{ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 5, clientId: 'late', clean: true, keepalive: 0 },
  ...{ username: 'meter', password: KEY },
};
const PINGREQ = { cmd: 'pingreq' };

let time: VirtualTime;
let world: InProcessWorld;

beforeEach(() => {
  time = new VirtualTime(7);
});
afterEach(async () => {
  await time.advance(1_000);
  world.stop();
  time.restore();
  expect(world.failures).toEqual([]);
});

/** A deployment whose clients may send a password in CONNECT, or must send a token in the handshake. */
async function start(mqttPassword: boolean, alterations: Alterations = {}): Promise<void> {
  const identity = { authenticators: [{ apiKeys: { keys: [{ name: 'meter', key: KEY }] } }], mqttPassword };
  const variables = { APUS_IDENTITY: JSON.stringify(identity) };
  const authentication = authenticationOf(variables, { clock: { now: () => Date.now() }, log });
  world = await time.during(startCloudInProcess({ seed: 7, ...authentication, alterations }));
}

/** A socket that sends the test's frames, and records its end. */
function open(query = '') {
  const socket = new world.emulator.WebSocket(`${world.url}${query}`, ['mqtt-text-v1']);
  const openedAtMs = time.nowMs;
  const seen = { closedAfterMs: undefined as number | undefined, texts: [] as string[] };
  socket.addEventListener('message', ({ data }: { data: string }) => void seen.texts.push(data));
  socket.addEventListener('close', () => {
    seen.closedAfterMs = time.nowMs - openedAtMs;
  });
  const send = (packet: object) =>
    socket.send(generate(packet as never, { protocolVersion: 5 } as never).toString('base64'));
  return { seen, send };
}

describe('a deployment that accepts passwords in CONNECT', () => {
  it('cuts a socket that sends no packet after 10 s [SEC-MEMORY-6]', async () => {
    await start(true);
    const { seen } = open();
    await time.advance(9_000);
    expect(seen.closedAfterMs).toBeUndefined();
    await time.advance(5_000);
    expect(seen.closedAfterMs).toBeGreaterThanOrEqual(10_000);
    expect(seen.closedAfterMs).toBeLessThan(13_000);
  });

  it('ends a socket that sends anything else before CONNECT', async () => {
    await start(true);
    const { seen, send } = open();
    await time.advance(1_000);
    send(PINGREQ);
    await time.advance(2_000);
    expect(seen.closedAfterMs).toBeLessThan(3_000);
  });

  it('refuses a CONNECT that comes later, even if the timer was lost', async () => {
    const losesTimer = ({ environment }: Cloud) =>
      vi.spyOn(environment.connectDeadline as ConnectDeadline, 'arm').mockResolvedValue();
    await start(true, { cloud: losesTimer });
    const { seen, send } = open();
    await time.advance(13_000);
    expect(seen.closedAfterMs).toBeUndefined();
    send(CONNECT);
    await time.advance(2_000);
    expect(seen.closedAfterMs).toBeDefined();
    expect(seen.texts).toEqual([]);
  });

  it('keeps a client that has sent its password', async () => {
    await start(true);
    const client = connectInTextFrames(
      mqtt,
      world.url,
      { protocolVersion: 5, username: 'meter', password: KEY },
      { WebSocket: world.emulator.WebSocket, page: {} },
    );
    let closes = 0;
    client.on('close', () => {
      closes += 1;
    });
    await time.advance(30_000);
    expect([client.connected, closes]).toEqual([true, 0]);
    client.end(true);
  });
});

describe('where the handshake has to show a token', () => {
  it('has no timer for connections: they have a token, and the sweep is enough', async () => {
    await start(false);
    const before = world.emulator.sqs.depth(TIMERS);
    const { seen } = open(`?token=${KEY}`);
    await time.advance(1_000);
    expect(world.emulator.sqs.depth(TIMERS)).toEqual(before);
    await time.advance(20_000);
    expect(seen.closedAfterMs).toBeUndefined();
  });
});
