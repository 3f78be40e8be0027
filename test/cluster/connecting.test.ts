import type { Authenticator, Credentials, Identity, Refusal } from '@apus/broker';
import { ReasonCode } from '@apus/mqtt';
import type { RunningNode } from '@apus/node';
import { Redis } from 'iovalkey';
import * as mqtt from 'mqtt';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { engineOrSkip, startEngine, type TestEngine } from '../support/engine-or-skip.ts';
import { RawClient } from '../support/raw-client.ts';
import { needs } from '../support/skips.ts';
import { startMember } from '../support/start-cluster.ts';
import { unique } from '../support/unique.ts';

const program = engineOrSkip();

/** Holds back each CONNECT of the user `waits` until the test releases it. */
class Gate implements Authenticator {
  #open: () => void = () => {};
  #opened = Promise.resolve();
  #reached: () => void = () => {};

  /** Resolves when the next CONNECT is held back. */
  shut(): Promise<void> {
    this.#opened = new Promise((resolve) => {
      this.#open = resolve;
    });
    return new Promise((resolve) => {
      this.#reached = resolve;
    });
  }

  open(): void {
    this.#open();
  }

  async authenticate({ clientId, username = '' }: Credentials): Promise<Identity | Refusal> {
    if (username === 'waits') {
      this.#reached();
      await this.#opened;
    }
    if (username === 'stranger') return { refused: ReasonCode.BadUserNameOrPassword, reason: 'unknown' };
    return {
      tenant: 'default',
      name: clientId,
      rules: [{ effect: 'allow', action: 'all', topicFilters: ['#'] }],
    };
  }
}

describe('CONNECTs of one client that are under way at two processes', needs('engine', program), () => {
  const gate = new Gate();
  let engine: TestEngine;
  let one: RunningNode;
  let two: RunningNode;

  beforeAll(async () => {
    engine = await startEngine(program);
    const options = { authenticator: gate };
    [one, two] = [await startMember(engine.url, options), await startMember(engine.url, options)];
  });

  afterAll(async () => {
    await one.stop();
    await two.stop();
    await engine.stop();
  });

  /** mqtt.js does not reconnect after a refused CONNECT. */
  async function connected(node: RunningNode, options: mqtt.IClientOptions): Promise<mqtt.MqttClient> {
    const client = await mqtt.connectAsync(node.url, {
      protocolVersion: 5,
      reconnectPeriod: 0,
      ...options,
    });
    onTestFinished(() => void client.end(true));
    return client;
  }

  it('none is refused where the first client has lost its connection meanwhile', async () => {
    const clientId = unique('c');
    const waits = gate.shut();
    const lost = await RawClient.open(one.url);
    lost.send({ cmd: 'connect', clientId, username: 'waits', clean: true, protocolVersion: 5 });
    await waits;
    await lost.vanish();
    const back = connected(two, { clientId });
    gate.open();
    const client = await back;
    const topic = unique('t');
    const got = new Promise((resolve) => client.once('message', (_, payload) => resolve(String(payload))));
    await client.subscribeAsync(topic);
    await client.publishAsync(topic, 'served', { qos: 1 });
    expect(await got).toBe('served');
  });

  it('the later one takes over from the earlier one, whichever process serves it [MQTT-3.1.4-3]', async () => {
    const clientId = unique('c');
    const waits = gate.shut();
    const first = await RawClient.open(one.url);
    onTestFinished(() => first.close());
    first.send({ cmd: 'connect', clientId, username: 'waits', clean: true, protocolVersion: 5 });
    await waits;
    const client = await connected(two, { clientId });
    const ended = new Promise((resolve) =>
      client.once('disconnect', ({ reasonCode }) => resolve(reasonCode)),
    );
    gate.open();
    expect(await first.next()).toMatchObject({ cmd: 'connack', reasonCode: 0 });
    expect(await ended).toBe(0x8e);
  });

  it('one that is refused leaves no claim of the client behind', async () => {
    const clientId = unique('c');
    const redis = new Redis(engine.url);
    onTestFinished(() => redis.disconnect());
    const claim = () => redis.hget('{apus}:claims', clientId);
    await expect(connected(one, { clientId, username: 'stranger' })).rejects.toThrow(/Bad User Name/i);
    await expect.poll(claim).toBeNull();
    const client = await connected(two, { clientId });
    expect(await claim()).toBe(two.cluster?.me);
    await client.endAsync();
    await expect.poll(claim).toBeNull();
  });
});
