import type { NodeOptions, RunningNode } from '@apus/node';
import { Redis } from 'iovalkey';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ClusterClient } from '../support/cluster-client.ts';
import { engineOrSkip, startEngine, type TestEngine } from '../support/engine-or-skip.ts';
import { needs } from '../support/skips.ts';
import { startMember } from '../support/start-cluster.ts';
import { unique } from '../support/unique.ts';

const program = engineOrSkip();
const connect = (
  node: RunningNode,
  ...options: Parameters<typeof ClusterClient.connect> extends [string, ...infer R] ? R : never
) => ClusterClient.connect(node.url, ...options);
const KEPT = { clean: false, properties: { sessionExpiryInterval: 300 } };

describe('two processes are one broker', needs('engine', program), () => {
  let engine: TestEngine;
  let one: RunningNode;
  let two: RunningNode;

  beforeAll(async () => {
    engine = await startEngine(program);
    [one, two] = [await startMember(engine.url), await startMember(engine.url)];
  });

  afterAll(async () => {
    await one.stop();
    await two.stop();
    await engine.stop();
  });

  it.each<[NodeOptions, RegExp]>([
    [{ dataDirectory: '/nowhere' }, /--data/],
    [{ openGateway: async () => Promise.reject(new Error('not reached')) }, /--gateway-port/],
  ])('options that processes do not share are refused at the start: %o', async (options, sentence) => {
    await expect(startMember(engine.url, options)).rejects.toThrow(sentence);
  });

  it('processes that stop at the same time all give up their leases: no later one has to wait', async () => {
    const own = await startEngine(program);
    onTestFinished(() => own.stop());
    const members = [await startMember(own.url), await startMember(own.url), await startMember(own.url)];
    await Promise.all(members.map((member) => member.stop()));
    const engine = new Redis(own.url);
    onTestFinished(() => engine.disconnect());
    const leases = (await engine.zrange('{apus}:members', 0, -1, 'WITHSCORES')).filter(
      (_, index) => index % 2,
    );
    expect(leases).toEqual(leases.map(() => '0'));
  });

  it('a process that is known to be dead is given up at once, and its sessions are taken over', async () => {
    const [topic, clientId] = [unique('t'), unique('c')];
    const dead = await startMember(engine.url);
    const before = await connect(dead, { clientId, ...KEPT });
    await before.client.subscribeAsync(topic, { qos: 1 });
    await before.client.endAsync();
    // The process lives, and would renew its lease.
    await one.cluster?.gone(dead.cluster?.me ?? '');
    expect((await dead.failed).message).toContain('have given this one up');
    const publisher = await connect(two);
    await publisher.client.publishAsync(topic, 'x', { qos: 1 });
    const after = await connect(one, { clientId, ...KEPT });
    expect(await after.got(1)).toEqual(['x']);
  });

  it('a process that starts without an engine says so', async () => {
    await expect(startMember('redis://127.0.0.1:1')).rejects.toThrow(
      /engine at redis:\/\/127.0.0.1:1 cannot be used/,
    );
  });
});
