import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Built, type Serving } from '@apus/cli/testing';
import * as mqtt from 'mqtt';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ClusterClient } from '../support/cluster-client.ts';
import { engineOrSkip, startEngine } from '../support/engine-or-skip.ts';
import { needs } from '../support/skips.ts';
import { StreamLedger } from '../support/stream-ledger.ts';
import { SubscribingProgram } from '../support/stream-program.ts';
import { unique } from '../support/unique.ts';

const program = engineOrSkip();
const KEPT = { clean: false, properties: { sessionExpiryInterval: 300 } };
/** A dead process is given up after five seconds; the machine may be busy. */
const ARRIVAL = { timeout: 90_000, interval: 50 };

describe('kill -9 of a process, and the streams', needs('engine', program), () => {
  const built = new Built();

  const cluster = async (size: number): Promise<Serving[]> => {
    const engine = await startEngine(program);
    onTestFinished(() => engine.stop());
    const directory = mkdtempSync(join(tmpdir(), 'apus-streams-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const file = join(directory, 'streams.json');
    writeFileSync(file, JSON.stringify({ streams: [{ name: 's', topicFilter: 's/#', messagesMax: 5000 }] }));
    const members: Serving[] = [];
    for (let count = 0; count < size; count += 1)
      members.push(await built.serve(['--cluster', engine.url, '--streams', file]));
    return members;
  };

  /** Reconnects to the other processes in turn when its own is gone. */
  const roaming = (members: readonly Serving[], first: number): mqtt.IClientOptions => {
    let turn = first;
    return {
      protocolVersion: 5,
      reconnectPeriod: 200,
      connectTimeout: 20_000,
      transformWsUrl: () => members[turn++ % members.length]?.url ?? '',
    };
  };

  it.each([1, 2] as const)(
    'readers that reconnect with their positions see each number once, of publishers at QoS %i',
    async (qos) => {
      const members = await cluster(3);
      const topic = `s/${unique('t')}`;
      const ledger = new StreamLedger();
      const programs = [0, 1, 2].map((at) => {
        const options = { ...roaming(members, at), resubscribe: false, clientId: unique('r') };
        return new SubscribingProgram(mqtt.connect('ws://127.0.0.1', options), topic);
      });
      for (const each of programs) await expect.poll(() => each.recovered.length, ARRIVAL).toBe(1);
      const count = 250;
      const publishing = [0, 1, 2].map(async (at) => {
        const options = { ...roaming(members, at), ...KEPT, clientId: unique('p') };
        const { client } = await ClusterClient.connect('ws://127.0.0.1', options);
        for (let number = 0; number < count; number += 1) {
          const payload = `${at}/${number}`;
          await client.publishAsync(topic, payload, { qos });
          ledger.acknowledged.push(payload);
        }
      });
      await expect.poll(() => ledger.acknowledged.length, ARRIVAL).toBeGreaterThan(count);
      await members[0]?.stop('SIGKILL');
      await Promise.all(publishing);
      for (const each of programs) {
        await expect.poll(() => each.payloads.size, ARRIVAL).toBe(3 * count);
        // At QoS 1 a publisher repeats a message without PUBACK. The stream then holds it twice.
        const isRepeat = (sentence: string) => qos === 1 && sentence.endsWith('came twice');
        expect(ledger.violations(each.noticed).filter((sentence) => !isRepeat(sentence))).toEqual([]);
        expect(each.noticed).not.toContain('gap');
        expect(new Set(each.recovered)).toEqual(new Set(['true']));
      }
      // At least one reader was connected to the killed process.
      expect(programs.some(({ recovered }) => recovered.length > 1)).toBe(true);
    },
  );

  it('a process that was stopped for longer than its lease appends nothing when it wakes', async () => {
    const [one, two] = (await cluster(2)) as [Serving, Serving];
    const topic = `s/${unique('t')}`;
    const reader = await ClusterClient.connect(two.url);
    const asked = { 'stream-offset': 'earliest' };
    await reader.client.subscribeAsync(topic, { qos: 0, properties: { userProperties: asked } });
    const clientId = unique('p');
    const publisher = await ClusterClient.connect(one.url, { clientId, ...KEPT });
    await publisher.client.publishAsync(topic, 'before', { qos: 1 });
    one.process.kill('SIGSTOP');
    // The messages wait in the process's socket until it wakes.
    for (let count = 0; count < 20; count += 1) publisher.client.publish(topic, 'late', { qos: 1 });
    // Passed on to the stopped process until that is given up.
    const other = await ClusterClient.connect(two.url, { clientId, ...KEPT, reconnectPeriod: 200 });
    const { code } = await one.stop('SIGCONT');
    expect(code).toBe(1);
    await other.client.publishAsync(topic, 'after', { qos: 1 });
    expect(await reader.got(2)).toEqual(['before', 'after']);
    const answer = await fetch(`${two.pageUrl}api/v5/streams/s/messages?topic=${topic}`);
    expect(((await answer.json()) as { data: unknown[] }).data).toHaveLength(2);
  });
});
