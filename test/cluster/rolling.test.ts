import { Built, type Serving } from '@apus/cli/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ClusterClient } from '../support/cluster-client.ts';
import { engineOrSkip, startEngine } from '../support/engine-or-skip.ts';
import { needs } from '../support/skips.ts';
import { Balancer } from '../support/start-cluster.ts';
import { unique } from '../support/unique.ts';

const program = engineOrSkip();
const SIZE = 3;
const KEPT = { clean: false, properties: { sessionExpiryInterval: 300 } };
/** The machine may be busy. */
const ARRIVAL = { timeout: 90_000, interval: 50 };
/** A publisher sends at least so many while one process is replaced. */
const MEANWHILE = 20;

const portOf = ({ url }: Serving) => Number(new URL(url).port);

describe('a rolling update: each process is replaced while clients publish', needs('engine', program), () => {
  const built = new Built();

  it.each([1, 2] as const)('loses no message at QoS %i, and each process ends in order', async (qos) => {
    const engine = await startEngine(program);
    onTestFinished(() => engine.stop());
    const { password, host } = new URL(engine.url);
    // As in a container: the password does not appear in a list of processes.
    const start = () => built.serve(['--cluster', `redis://${host}`], { APUS_ENGINE_PASSWORD: password });
    const members: Serving[] = [];
    for (let count = 0; count < SIZE; count += 1) members.push(await start());
    const balancer = await Balancer.start(members.map(portOf));
    onTestFinished(() => balancer.stop());
    const connect = (clientId: string) =>
      ClusterClient.connect(`ws://127.0.0.1:${balancer.port}/mqtt`, {
        clientId,
        ...KEPT,
        reconnectPeriod: 200,
        connectTimeout: 20_000,
      });

    const topic = unique('t');
    const readers = await Promise.all(members.map(() => connect(unique('s'))));
    const writers = await Promise.all(members.map(() => connect(unique('p'))));
    for (const { client } of readers) await client.subscribeAsync(`${topic}/+`, { qos: 2 });
    let told = 0;
    for (const { client } of [...readers, ...writers])
      client.on('disconnect', ({ reasonCode }) => {
        if (reasonCode === 0x8b) told += 1;
      });

    let isUpdating = true;
    const sent = writers.map(() => 0);
    const publishing = writers.map(async ({ client }, index) => {
      while (isUpdating) {
        await client.publishAsync(`${topic}/${index}`, String(sent[index]), { qos });
        sent[index] = (sent[index] ?? 0) + 1;
      }
    });
    const someMore = async () => {
      const least = sent.map((count) => count + MEANWHILE);
      await expect.poll(() => sent.every((count, index) => count >= (least[index] ?? 0)), ARRIVAL).toBe(true);
    };

    await someMore();
    for (const old of [...members]) {
      // The order of ECS: the new task is healthy, the former task gets no new connections, and then SIGTERM.
      members.push(await start());
      members.splice(members.indexOf(old), 1);
      balancer.use(members.map(portOf));
      expect(await old.stop('SIGTERM')).toMatchObject({ code: 0 });
      await someMore();
    }
    isUpdating = false;
    await Promise.all(publishing);

    // Each client had to reconnect at least once, as none of the first processes is left.
    expect(told).toBeGreaterThanOrEqual(readers.length + writers.length);
    for (const [index, count] of sent.entries()) {
      const numbers = Array.from({ length: count }, (_, number) => String(number));
      for (const { received } of readers) {
        const of = () =>
          received.filter((each) => each.topic === `${topic}/${index}`).map(({ text }) => text);
        await expect.poll(() => new Set(of()).size, ARRIVAL).toBe(count);
        expect(qos === 2 ? of() : [...new Set(of())]).toEqual(numbers);
      }
    }
  });
});
