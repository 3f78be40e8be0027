import { performance } from 'node:perf_hooks';
import { GATEWAY_QUOTAS, NODE_QUOTAS, rulesAuthorizer, withQuotas } from '@apus/broker';
import { startDoors } from '@apus/cli/testing';
import { connect as connectInTextFrames } from '@apus/client';
import * as mqtt from 'mqtt';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { flood } from '../support/tenants/flood.ts';
import { type ConnectMqtt, Program, tenantsByUsername } from '../support/tenants/program.ts';
import { quantile, sendSteadily } from '../support/tenants/steady.ts';
import { startCloud } from './start-cloud.ts';

// All of a deployment is of this process, and so is the flood: on a busy machine its tests take many seconds.
vi.setConfig({ testTimeout: 170_000 });

/** Each tenant may use this much; the test measures a moment and `npm run` a day. */
const PLAN = {
  ...{ connectionsMax: 8, sessionsMax: 12, publishesPerSecondMax: 100, framesPerSecondMax: 100 },
  ...{ deliveriesPerMinuteMax: 6_000, writesPerMinuteMax: 1_000 },
};

/** For the table of docs/tenants.md: `APUS_TENANT_LATENCY=1 npx vitest run --project node test/cloud/tenant-flood.test.ts`. */
const IS_MEASURED = process.env.APUS_TENANT_LATENCY === '1';
const MESSAGES = IS_MEASURED ? 200 : 30;
const EVERY_MS = 100;

type Door = () => Promise<ConnectMqtt>;

async function doors() {
  const quotas = { tenant: PLAN };
  const options = { ...{ port: 0, gatewayPort: 0, logLevel: 'silent' as const, quotas } };
  const running = await startDoors({
    ...options,
    authenticator: tenantsByUsername,
    authorizer: rulesAuthorizer,
  });
  onTestFinished(() => running.stop());
  return running;
}

const DOORS: readonly [string, Door][] = [
  [
    'the node door',
    async () => {
      const { url } = await doors();
      return (options) => mqtt.connect(url, options);
    },
  ],
  [
    'the gateway door of apus serve',
    async () => {
      const { gateway } = await doors();
      return (options) => connectInTextFrames(mqtt, gateway?.url ?? '', options);
    },
  ],
  [
    'a deployment',
    async () => {
      const world = await startCloud({
        ...{ seed: 41, authenticator: tenantsByUsername, authorizer: rulesAuthorizer },
        tenants: ['acme', 'globex'],
        quotas: withQuotas(GATEWAY_QUOTAS, { tenant: PLAN }),
      });
      onTestFinished(async () => {
        await world.stop();
        // The flood is in this process as well: on a busy machine a function may exceed its time.
        expect(world.failures.filter((failure) => !failure.includes('Task timed out'))).toEqual([]);
      });
      return (options) => connectInTextFrames(mqtt, world.url, options);
    },
  ],
];

describe.each(DOORS)('at %s a tenant that misbehaves', (name, start) => {
  it('meets its limits, and every message of the other tenant arrives, in its order [SEC-TENANT-8]', async () => {
    const connectMqtt = await start();
    const publisher = await new Program(connectMqtt, 'globex').connected();
    const subscriber = await new Program(connectMqtt, 'globex').connected();
    const way = { messages: MESSAGES, everyMs: EVERY_MS };
    const alone = IS_MEASURED
      ? await sendSteadily(publisher.mqtt, subscriber, { ...way, topic: 'alone' })
      : undefined;
    const other = IS_MEASURED ? await new Program(connectMqtt, 'globex').connected() : subscriber;
    const flooding = await flood(connectMqtt, 'acme');
    onTestFinished(() => flooding.stop());
    await vi.waitFor(() => expect(flooding.published()).toBeGreaterThan(50), { timeout: 60_000 });
    const before = performance.eventLoopUtilization();
    const beside = await sendSteadily(publisher.mqtt, other, { ...way, topic: 'news/queue' });
    const { utilization } = performance.eventLoopUtilization(before);
    expect(beside.received).toEqual(Array.from({ length: MESSAGES }, (_, index) => String(index)));
    expect(flooding.refused()).toBeGreaterThan(0);
    // A new client of the other tenant connects, and is not affected by the flood.
    await (await new Program(connectMqtt, 'globex').connected()).expectNothing();
    await flooding.stop();
    if (alone === undefined) return;
    for (const [what, { latenciesMs }] of Object.entries({ alone, beside })) {
      const [median, high] = [0.5, 0.99].map((share) => quantile(latenciesMs, share).toFixed(1));
      process.stdout.write(`| ${name} | ${what} | ${median} | ${high} |\n`);
    }
    const busy = `${Math.round(100 * utilization)} % of a processor`;
    process.stdout.write(`${flooding.published()} publishes, ${flooding.refused()} refused, ${busy}\n`);
  });
});

it('the plan in the test is lower than the quotas of every tenant', () => {
  for (const [quota, most] of Object.entries(PLAN)) {
    const preset = { ...NODE_QUOTAS.tenant, ...GATEWAY_QUOTAS.tenant }[
      quota as keyof typeof NODE_QUOTAS.tenant
    ];
    expect(preset === 0 || most <= preset).toBe(true);
  }
});
