import { expect, it, onTestFinished } from 'vitest';
import { temporaryDirectory } from '../support/directory.ts';
import { Client } from './client.ts';
import { KillableBroker } from './killable-broker.ts';
import { readRetained } from './retained-values.ts';

/** In blocks of 512 bytes: the data file may grow to a megabyte. */
const FILE_SIZE_MAX = 2048;

const MESSAGES = 400;

/** The broker is built, and started twice: some seconds, and ten times as many where the machine is busy. */
const TEST_MS_MAX = 240_000;

it('acknowledges nothing that the disk did not take, says so and ends', {
  timeout: TEST_MS_MAX,
}, async () => {
  const directory = temporaryDirectory();
  const limited = ['sh', '-c', `ulimit -f ${FILE_SIZE_MAX}; exec "$@"`, 'sh'];
  const broker = await KillableBroker.build(directory, limited);
  await broker.start();
  const failures: string[] = [];
  const client = new Client({
    url: broker.url,
    clientId: 'a',
    failed: (reason) => void failures.push(reason),
  });
  onTestFinished(() => client.vanish());
  client.start();
  const acknowledged = new Set<string>();
  const publishNext = (number: number): void => {
    if (number > MESSAGES) return;
    const payload = `${number}`.padEnd(10_000);
    client.publish(`kept/${number}`, payload, 1, true, () => {
      acknowledged.add(`${number}`);
      publishNext(number + 1);
    });
  };
  publishNext(1);
  expect(await broker.ended()).toEqual({ code: 1, signal: null });
  client.vanish();
  expect(broker.errors).toContain('apus: The disk has failed (');
  expect(broker.errors).toContain('Nothing is acknowledged until the broker is started anew.');
  expect(acknowledged.size).toBeGreaterThan(0);
  expect(acknowledged.size).toBeLessThan(MESSAGES);

  const roomy = broker.unwrapped();
  await roomy.start();
  const kept = await readRetained(roomy.url);
  for (const name of acknowledged) expect(kept.get(name), `message ${name}`).toBe(Number(name));
});
