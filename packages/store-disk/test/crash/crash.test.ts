import { expect, it, onTestFinished } from 'vitest';
import { temporaryDirectory } from '../support/directory.ts';
import { KillableBroker } from './killable-broker.ts';
import { readRetained } from './retained-values.ts';
import { Traffic } from './traffic.ts';

/** A few in every test run; `npm run test:crash -w @apus/store-disk` kills a hundred times. */
const KILLS = Number(process.env.APUS_CRASH_KILLS ?? 4);

/** Only there against a hang, as the limit of the test is: a busy machine takes seconds to start the broker. */
const PATIENCE_MS = 60_000;
const LIFE_MS_MAX = 400;
const VISIT_MS_MAX = 50;
const RETURN_MS_MAX = 30;

it(
  `keeps all that was acknowledged, once and in order, when it is killed ${KILLS} times`,
  async () => {
    const broker = await KillableBroker.build(temporaryDirectory());
    const traffic = new Traffic(broker.url);
    onTestFinished(() => traffic.end());
    const { ledger } = traffic;
    await broker.start();
    traffic.always.start();
    traffic.sometimes.start();
    await until(
      'both subscribers have subscribed',
      traffic,
      () => traffic.always.isDelivered && traffic.sometimes.isDelivered,
    );
    traffic.sometimes.vanish();
    traffic.startPublishing();

    for (let kill = 1; kill <= KILLS; kill += 1) {
      await until('everybody is connected', traffic, () => traffic.isRunning);
      await sleep(Math.random() * LIFE_MS_MAX);
      const promised = ledger.promises();
      await broker.kill();
      await broker.start();
      if (Math.random() < 0.5) {
        // Killed again while its clients come back: one has its messages, another has not repeated its own yet.
        await until('the subscriber is back', traffic, () => traffic.always.isConnected);
        await sleep(Math.random() * RETURN_MS_MAX);
        await broker.kill();
        await broker.start();
      }
      const retained = await readRetained(broker.url);
      for (const [name, { retained: last }] of promised) {
        expect(retained.get(name) ?? 0, `retained by ${name}, after kill ${kill}`).toBeGreaterThanOrEqual(
          last,
        );
      }
      traffic.sometimes.start();
      await until(`everything is there after kill ${kill}`, traffic, () => ledger.has('sometimes', promised));
      traffic.sometimes.vanish();
      if (Math.random() < 0.5) continue;
      // Back before the broker has noticed that it was gone, and gone again somewhere in its queue.
      traffic.sometimes.start();
      await sleep(Math.random() * VISIT_MS_MAX);
      traffic.sometimes.vanish();
    }

    traffic.stopPublishing();
    traffic.sometimes.start();
    await until('everything is acknowledged', traffic, () => traffic.unacknowledged === 0);
    const promised = ledger.promises();
    for (const name of ['always', 'sometimes']) {
      await until(`${name} has everything`, traffic, () => ledger.has(name, promised));
    }
    expect(ledger.acknowledgedInAll).toBeGreaterThan(KILLS * 10);
    expect(await broker.stop()).toEqual({ code: 0, signal: null });
    expect(broker.errors).toBe('Stopping …\n');
    process.stdout.write(
      `${KILLS} kills: ${ledger.acknowledgedInAll} acknowledged, ${ledger.repeated} came again at QoS 1\n`,
    );
  },
  240_000 + KILLS * 15_000,
);

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function until(what: string, { failures }: Traffic, condition: () => boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    expect(failures).toEqual([]);
    if (condition()) return;
    if (performance.now() > deadline) throw new Error(`waited ${PATIENCE_MS} ms until ${what}`);
    await sleep(5);
  }
}
