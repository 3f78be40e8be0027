import { join } from 'node:path';
import { CloudWatchMetrics, GatewayMessages, MonthCounters } from '@apus/aws/lambda';
import { rulesOfLists } from '@apus/broker';
import { connectAsync } from 'mqtt';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { bridgesOf, FakeStage, rulesBeside } from '../cloud/api-parts.ts';
import { Program } from '../cloud/program.ts';
import { type InProcessWorld, startCloudInProcess } from '../cloud/start-cloud-in-process.ts';
import { type CloudWatchStandIn, startCloudWatch } from '../support/cloud-watch.ts';
import { API_KEY, API_KEY_SHA256, type FunctionUrl, startFunctionUrl } from '../support/function-url.ts';
import type { ClientPage } from './support/client-page.ts';
import { clientSuite } from './support/client-suite.ts';
import { eventually } from './support/eventually.ts';
import type { StaticSite } from './support/served-client.ts';

const WIDE = 1440;
const PHONE = 390;

const STARTED_MS = Date.parse('2026-11-27T12:34:30Z');
const MINUTE_MS = 60_000;
const STAGE = { ApiId: 'a1b2c3', Stage: 'mqtt' };

clientSuite('the web client’s admin view, of tenants and of a deployment', (suite) => {
  it('shows the tenants of a node with a register, the usage of each, and the resources of each', async () => {
    const file = join(suite.built.directory, 'tenants.json');
    const node = await suite.built.serve(['--tenants', file]);
    onTestFinished(() => node.stop());
    const api = new URL('/api/v5/', node.pageUrl);
    for (const name of ['acme', 'globex'])
      await fetch(new URL('tenants', api), { method: 'POST', body: JSON.stringify({ name }) });
    await publish(api, 'acme', { topic: 'of/acme', payload: 'x', retain: true });
    const program = await connectAsync(node.nodeUrl, { protocolVersion: 5, clientId: 'of default' });
    onTestFinished(() => program.endAsync(true));
    const client = await suite.openUrl(`${node.pageUrl}#/admin`);
    const { page } = client;
    await page.getByRole('tab', { name: 'Tenants' }).click();
    const row = page.getByRole('row').filter({ hasText: 'acme' });
    await row.getByText('active').waitFor();
    expect(await client.accessibilityProblemsInBothColours('admin-tenants')).toEqual([]);
    await row.getByRole('button', { name: 'Show acme' }).click();
    await page.getByText('Shown is the tenant “acme”.').waitFor();
    await page.getByText('No connected client matches.').waitFor();
    await page.getByRole('tab', { name: 'Retained messages' }).click();
    await page.getByRole('row').filter({ hasText: 'of/acme' }).waitFor();
    await page.getByRole('button', { name: 'Show “default”' }).click();
    await page.getByRole('row').filter({ hasText: 'of default' }).waitFor();

    await page.getByRole('tab', { name: 'Usage' }).click();
    await page.getByRole('img', { name: 'Messages of all tenants over time' }).waitFor();
    await page
      .getByRole('table', { name: 'Usage by tenant' })
      .getByRole('rowheader', { name: 'acme' })
      .waitFor();
    expect(await client.accessibilityProblemsInBothColours('admin-usage')).toEqual([]);
    await page.getByText('A day, for a month').click();
    await page
      .getByRole('table', { name: 'Usage by tenant' })
      .getByRole('rowheader', { name: 'acme' })
      .waitFor();
    await page.setViewportSize({ width: PHONE, height: 844 });
    await eventually(() => client.overflow()).toBeLessThanOrEqual(0);
    expect(await client.accessibilityProblemsInBothColours('admin-usage-390')).toEqual([]);
  });

  it('has no such tabs at a node without a register', async () => {
    const client = await suite.open('admin');
    await client.page.getByRole('tab', { name: 'Streams' }).waitFor();
    await eventually(() => client.page.getByRole('tab', { name: 'Tenants' }).count()).toBe(0);
  });

  describe('at a deployment', () => {
    let world: InProcessWorld;
    let site: StaticSite;
    let api: FunctionUrl;
    let outside: Awaited<ReturnType<typeof rulesBeside>>;
    let cloudWatch: CloudWatchStandIn;
    const stage = new FakeStage();
    const programs: Program[] = [];

    beforeAll(async () => {
      world = await startCloudInProcess({
        ...{ seed: 9, usage: true, streams: [{ name: 'chat', topicFilter: 'chat/#' }] },
        authenticator: {
          authenticate: ({ username: tenant = 'default' }) => ({
            ...{ tenant, name: `user of ${tenant}`, clientIds: ['+'], rules: rulesOfLists(['#'], ['#']) },
          }),
        },
      });
      for (const [name, tenant] of [
        ['sensor 1', 'default'],
        ['sensor 2', 'default'],
        ['phone', 'acme'],
      ] as const) {
        const program = new Program(world.emulator, name, {
          ...{ username: tenant, clean: false, properties: { sessionExpiryInterval: 300 } },
        });
        programs.push(program);
        await program.mqtt.subscribeAsync('news/#', { qos: 1 });
        await program.mqtt.publishAsync('chat/a', 'said', { qos: 1 });
      }
      await world.operate('POST', '/tenants', { body: { name: 'acme' } });
      outside = await rulesBeside(['default'], ['l1', 'l2']);
      const startedAtMs = Date.now();
      const clock = { now: () => STARTED_MS + Date.now() - startedAtMs };
      cloudWatch = await startCloudWatch(clock.now);
      putMetrics();
      const ofFunctions = new CloudWatchMetrics(cloudWatch.client, 'Apus/apus/Broker');
      const ofStage = new CloudWatchMetrics(cloudWatch.client, 'AWS/ApiGateway', STAGE);
      const silent = { debug() {}, info() {}, warn() {}, error() {} };
      const parts = {
        clock,
        rules: outside.rules,
        bridges: bridgesOf(['default']),
        breaker: { ...stage.breaker(), messages: new GatewayMessages(ofStage, clock, silent) },
        counters: new MonthCounters(ofFunctions, clock, ['MessagesIn', 'MessagesOut', 'MessagesDropped']),
      };
      api = await startFunctionUrl(world.apiFunction({ keysSha256: [API_KEY_SHA256] }, parts));
      site = await suite.built.serveFiles();
    });

    /** The metrics of a deployment of an ordinary day, as CloudWatch has them. */
    function putMetrics(): void {
      const at = (minutesAgo: number) => STARTED_MS - (STARTED_MS % MINUTE_MS) - minutesAgo * MINUTE_MS;
      const ofFunctions = { namespace: 'Apus/apus/Broker', dimensions: { service: 'apus' } };
      for (const [name, minutesAgo, value] of [
        ['MessagesIn', 20_000, 1_200_000],
        ['MessagesIn', 10, 345],
        ['MessagesOut', 8, 6_789],
        ['MessagesDropped', 30, 12],
      ] as const)
        cloudWatch.put({ ...ofFunctions, name, atMs: at(minutesAgo), value });
      for (const minutesAgo of [1, 2, 3])
        cloudWatch.put({
          ...{ namespace: 'AWS/ApiGateway', dimensions: STAGE, name: 'MessageCount' },
          ...{ atMs: at(minutesAgo), value: 61_234 },
        });
    }

    afterAll(async () => {
      await cloudWatch?.stop();
      for (const { mqtt } of programs) await mqtt.endAsync(true);
      await api?.stop();
      await site?.stop();
      world?.stop();
    });

    async function signIn(client: ClientPage): Promise<void> {
      const { page } = client;
      await page.route('**/config.json', (route) =>
        route.fulfill({ json: { endpoints: [], api: { url: api.url } } }),
      );
      await page.goto(`${site.url}#/admin`);
      await page.getByLabel('Key of the API').fill(API_KEY);
      await page.getByRole('button', { name: 'Use it' }).click();
    }

    it('asks for the key once, and not every two seconds', async () => {
      const client = await suite.openUrl('about:blank', { context: await suite.newContext() });
      await client.page.clock.setSystemTime(STARTED_MS);
      const { page } = client;
      await page.route('**/config.json', (route) =>
        route.fulfill({ json: { endpoints: [], api: { url: api.url } } }),
      );
      await page.goto(`${site.url}#/admin`);
      await page.getByLabel('Key of the API').fill('a wrong one');
      await page.getByRole('button', { name: 'Use it' }).click();
      await page.getByRole('alert').first().getByText('The key is not right').waitFor();
      // The browser logs an error for each refused request: for clients and three kinds of figures.
      await eventually(async () => client.complaints.length).toBe(4);
      client.complaints.length = 0;
      await page.getByLabel('Key of the API').fill(API_KEY);
      const before = api.requests.length;
      await page.getByRole('button', { name: 'Use it' }).click();
      await page.getByRole('row').filter({ hasText: 'sensor 1' }).waitFor();
      const asked = (path: string) =>
        api.requests.slice(before).filter((request) => request === `GET /api/v5/${path}`).length;
      const figures = page.getByLabel('The broker in numbers');
      await figures.getByText('closed').waitFor();
      expect(['clients', 'stats', 'metrics', 'breaker', 'usage', 'quotas'].map(asked)).toEqual([
        ...[1, 1, 1, 1, 0, 0],
      ]);
      await page.getByRole('button', { name: 'Ask again' }).click();
      await eventually(async () => asked('clients')).toBe(2);
      expect(await client.stored()).not.toContain(API_KEY);
    });

    it('shows clients, kicks one, and shows bans, streams, tenants and usage', async () => {
      const client = await suite.openUrl('about:blank', { context: await suite.newContext() });
      await client.page.clock.setSystemTime(STARTED_MS);
      const { page } = client;
      await signIn(client);
      const row = page.getByRole('row').filter({ hasText: 'sensor 1' });
      await row.getByText('gateway door').waitFor();
      await eventually(() => page.getByRole('row').filter({ hasText: 'phone' }).count()).toBe(0);
      expect(await client.accessibilityProblemsInBothColours('admin-deployment')).toEqual([]);
      await row.getByRole('button', { name: 'sensor 1', exact: true }).click();
      const details = page.getByRole('dialog', { name: 'Client sensor 1' });
      await details.getByText('news/# · QoS 1').waitFor();
      expect(await client.accessibilityProblems()).toEqual([]);
      await client.screenshot('admin-deployment-client-light');
      await page.keyboard.press('Escape');
      const ended = new Promise((resolve) => programs[0]?.mqtt.once('disconnect', resolve));
      await row.getByRole('button', { name: 'Disconnect sensor 1' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Disconnect', exact: true }).click();
      expect(await ended).toMatchObject({ reasonCode: 0x98 });

      await page.getByRole('tab', { name: 'Bans' }).click();
      await page.getByText('There are no bans.').waitFor();
      await page.getByRole('tab', { name: 'Streams' }).click();
      await page.getByRole('row').filter({ hasText: 'chat/#' }).waitFor();
      await client.screenshot('admin-deployment-streams-light');

      await page.getByRole('tab', { name: 'Slow clients' }).click();
      await page.getByText('A deployment does not look through all queues', { exact: false }).waitFor();
      await page.getByRole('tab', { name: 'Alarms' }).click();
      await page
        .getByText('The alarms of a deployment are in CloudWatch', { exact: false })
        .first()
        .waitFor();
      await eventually(() => page.getByRole('alert').count()).toBe(0);
      // The browser logs an error for each answer that is none.
      client.complaints.length = 0;
      await page.getByRole('tab', { name: 'Tenants' }).click();
      await page.getByRole('button', { name: 'Show acme' }).click();
      await page.getByRole('row').filter({ hasText: 'phone' }).waitFor();
      await page.getByRole('tab', { name: 'Usage' }).click();
      await page.getByRole('img', { name: 'Messages of all tenants over time' }).waitFor();
      expect(await client.accessibilityProblemsInBothColours('admin-deployment-usage')).toEqual([]);
    });

    it('shows subscriptions, bridges and rules, and sends dead letters again', async () => {
      const client = await suite.openUrl('about:blank', { context: await suite.newContext() });
      await client.page.clock.setSystemTime(STARTED_MS);
      const { page } = client;
      await signIn(client);
      await page.getByRole('tab', { name: 'Subscriptions' }).click();
      const subscriptions = page.getByRole('table', { name: 'Subscriptions' });
      await subscriptions.getByRole('row').filter({ hasText: 'sensor 2' }).getByText('news/#').waitFor();
      await page.getByRole('tab', { name: 'Bridges and rules' }).click();
      await page.getByRole('row').filter({ hasText: 'kafka b-1.example:9096' }).waitFor();
      await page.getByRole('row').filter({ hasText: 'iot-core sensors/#' }).waitFor();
      const row = page.getByRole('row').filter({ hasText: 'https://example.com/' });
      await row.getByText('2', { exact: true }).waitFor();
      expect(await client.accessibilityProblemsInBothColours('admin-deployment-rules')).toEqual([]);
      outside.target.takes = true;
      await row.getByRole('button', { name: 'Send again the dead letters of hot' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Send again', exact: true }).click();
      await row.getByText('0', { exact: true }).waitFor();
      await eventually(() => page.getByRole('alert').count()).toBe(0);
    });

    it('shows the metrics of CloudWatch, the breaker before and after it has tripped, and quotas', async () => {
      const client = await suite.openUrl('about:blank', { context: await suite.newContext() });
      await client.page.clock.setSystemTime(STARTED_MS);
      const { page } = client;
      await signIn(client);
      const figures = page.getByLabel('The broker in numbers');
      const figure = async (name: string): Promise<string> =>
        (await figures.locator('div', { has: page.getByText(name, { exact: true }) }).textContent()) ?? '';
      await eventually(() => figure('Messages received')).toContain('1.2M');
      await eventually(() => figure('Messages sent')).toContain('6,789');
      await eventually(() => figure('Messages dropped')).toContain('12');
      await eventually(() => figure('Breaker')).toContain('closed');
      await eventually(() => figure('Gateway messages a minute')).toContain('61,234of 100,000');
      expect(await client.accessibilityProblemsInBothColours('admin-breaker-closed')).toEqual([]);
      await page.getByRole('tab', { name: 'Quotas' }).click();
      const quotas = page.getByRole('table', { name: 'Quotas' });
      await quotas.getByLabel('61,234 of 70,000').waitFor();
      await quotas.getByLabel('2 of 900,000').first().waitFor({ state: 'attached' });
      await quotas
        .getByRole('row', { name: /^each identity.* Frames a second each for itself 100$/ })
        .waitFor();
      expect(await client.accessibilityProblemsInBothColours('admin-quotas')).toEqual([]);

      Object.assign(stage, { framesPerSecond: 1, updatedAtMs: STARTED_MS - 3 * MINUTE_MS });
      onTestFinished(() => void Object.assign(stage, { framesPerSecond: 500 }));
      const alert = page.getByRole('alert').filter({ hasText: 'The breaker has tripped' });
      await eventually(async () => {
        await page.getByRole('button', { name: 'Refresh the numbers' }).click();
        return await alert.count();
      }, 1_000).toBe(1);
      await alert.getByText('may send 1 frame a second').waitFor();
      await alert.getByText('at the first look after').waitFor();
      await eventually(() => figure('Breaker')).toContain('tripped');
      expect(await client.accessibilityProblemsInBothColours('admin-breaker-tripped')).toEqual([]);
      await page.setViewportSize({ width: PHONE, height: 844 });
      await eventually(() => client.overflow()).toBeLessThanOrEqual(0);
      expect(await client.accessibilityProblemsInBothColours('admin-breaker-390')).toEqual([]);
      await page.setViewportSize({ width: WIDE, height: 900 });
    });

    it('fits a phone', async () => {
      const context = await suite.newContext();
      const client = await suite.openUrl('about:blank', { context, width: PHONE, height: 844 });
      await signIn(client);
      await client.page.getByRole('row').filter({ hasText: 'sensor 2' }).waitFor();
      await eventually(() => client.overflow()).toBeLessThanOrEqual(0);
      expect(await client.accessibilityProblemsInBothColours('admin-deployment-390')).toEqual([]);
      await client.page.setViewportSize({ width: WIDE, height: 900 });
    });
  });
});

async function publish(api: URL, tenant: string, message: object): Promise<void> {
  const headers = { 'content-type': 'application/json', 'apus-tenant': tenant };
  await fetch(new URL('publish', api), { method: 'POST', headers, body: JSON.stringify(message) });
}
