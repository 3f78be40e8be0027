import { type RunningDoors, startDoors } from '@apus/cli';
import mqtt from 'mqtt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { HostEnvironment } from '../../../src/engine/host/environment.ts';
import { newProfile } from '../../../src/engine/new-profile.ts';
import type { ConnectionProfile, Qos } from '../../../src/engine/types.ts';
import { BenchRun } from '../../../src/features/bench/bench-run.ts';
import { doorOf, openBenchClient } from '../../../src/features/bench/open-bench-client.ts';
import { type BenchPlan, DEFAULT_PLAN } from '../../../src/features/bench/plan.ts';
import type { BenchSnapshot } from '../../../src/features/bench/result.ts';

const environment: HostEnvironment = {
  mqtt,
  WebSocket: WebSocket as never,
  openSocket: (url, subprotocols) => new WebSocket(url, [...subprotocols]) as never,
  now: () => performance.timeOrigin + performance.now(),
  later: (callback, delayMs) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

let runs = 0;

/** A whole run, as its worker makes it. */
async function snapshotOf(profile: ConnectionProfile, plan: Partial<BenchPlan>): Promise<BenchSnapshot> {
  const target = { profile, secrets: {} };
  const door = await doorOf(target, environment);
  runs += 1;
  return await new Promise((resolve) => {
    const run = new BenchRun({ ...DEFAULT_PLAN, durationSeconds: 1, ...plan }, `t${runs}`, {
      open: async (clientId) =>
        typeof door === 'string' ? await openBenchClient(target, door, clientId, environment) : door,
      now: () => performance.now(),
      later: environment.later,
      report: (snapshot) => {
        if (snapshot.phase === 'done' || snapshot.phase === 'failed') resolve(snapshot);
      },
    });
    void run.start();
  });
}

describe('a run against a broker', () => {
  let node: RunningDoors;

  beforeAll(async () => {
    node = await startDoors({ port: 0, gatewayPort: 0 });
  });

  afterAll(() => node.stop());

  const urlOf = (door: string): string => (door === 'node' ? node.url : (node.gateway?.url ?? ''));

  describe.each(['node', 'gateway'])('at the %s door', (door) => {
    it.each([0, 1, 2] as const)('loses, doubles and disorders nothing at QoS %d', async (qos: Qos) => {
      const plan = { publishers: 2, subscribers: 3, fanOut: 'all', ratePerSecond: 60, qos } as const;
      const snapshot = await snapshotOf(newProfile(urlOf(door)), plan);
      expect(snapshot).toMatchObject({
        phase: 'done',
        connected: 5,
        published: 60,
        acknowledged: 60,
        expected: 180,
        received: 180,
        missing: 0,
        duplicates: 0,
        outOfOrder: 0,
      });
      expect(snapshot.latency?.count).toBe(180);
    });

    it('gives each message to one of the members of a shared subscription', async () => {
      const plan = { publishers: 2, subscribers: 3, fanOut: 'shared', ratePerSecond: 60 } as const;
      const snapshot = await snapshotOf(newProfile(urlOf(door)), plan);
      expect(snapshot).toMatchObject({
        phase: 'done',
        expected: 60,
        received: 60,
        missing: 0,
        duplicates: 0,
      });
    });
  });

  it("fails with the platform's error when no server listens", async () => {
    const snapshot = await snapshotOf({ ...newProfile('ws://127.0.0.1:1/mqtt'), door: 'node' }, {});
    expect(snapshot).toMatchObject({ phase: 'failed', trouble: { kind: 'closed', code: 1006 } });
  });

  it('fails where no WebSocket can be opened at all', async () => {
    const snapshot = await snapshotOf(newProfile('http://127.0.0.1:1/mqtt'), {});
    expect(snapshot.trouble?.kind).toBe('url');
  });
});
