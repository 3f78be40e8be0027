import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { PATIENCE_MS } from '../support/patience.ts';
import { call, KEYS } from './api-caller.ts';
import { type ApiParts, FakeStage } from './api-parts.ts';
import { Program } from './program.ts';
import { type InProcessWorld, startCloudInProcess } from './start-cloud-in-process.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const NOW_MS = Date.parse('2026-11-27T12:00:00Z');
const MINUTE_MS = 60_000;

let world: InProcessWorld;
let stage: FakeStage;
let nowMs: number;
const programs: Program[] = [];

beforeAll(async () => {
  world = await startCloudInProcess({ seed: 11 });
  for (const name of ['one', 'two']) {
    const program = new Program(world.emulator, name, {
      ...{ clean: false, properties: { sessionExpiryInterval: 300 } },
    });
    programs.push(program);
    await program.mqtt.subscribeAsync('news/#');
  }
  await programs[1]?.mqtt.endAsync();
  const plan = { connectionsMax: 7, retainedMessagesMax: 3, deliveriesPerMinuteMax: 600 };
  await world.operate('POST', '/tenants', { body: { name: 'acme', plan } });
});

afterAll(async () => {
  for (const { mqtt } of programs) await mqtt.endAsync(true);
  world.stop();
  expect(world.failures).toEqual([]);
});

beforeEach(() => {
  stage = new FakeStage();
  nowMs = NOW_MS;
});

const clock = { now: () => nowMs };
const newFunction = (parts: ApiParts = { breaker: stage.breaker() }) =>
  world.apiFunction({ keysSha256: KEYS }, { clock, ...parts });
const look = async (handler = newFunction()) => await call(handler, { method: 'GET', path: '/breaker' });

describe('the breaker of a deployment, as its operator sees it', () => {
  it('is closed while the stage has its throttle, and reports how near the last minute came', async () => {
    stage.lastMinute = { atMs: NOW_MS - 2 * MINUTE_MS, value: 61_234 };
    expect((await look()).body).toEqual({
      state: 'closed',
      since: null,
      closes_at: null,
      frames_per_second_max: 500,
      messages_per_minute_max: 100_000,
      messages_last_minute: 61_234,
      last_minute_at: '2026-11-27T11:58:00.000Z',
    });
  });

  it('is tripped while the stage lets one frame through, and reports since when and until when', async () => {
    Object.assign(stage, { framesPerSecond: 1, updatedAtMs: NOW_MS - 5 * MINUTE_MS });
    expect((await look()).body).toMatchObject({
      state: 'tripped',
      since: '2026-11-27T11:55:00.000Z',
      closes_at: '2026-11-27T12:15:00.000Z',
      frames_per_second_max: 1,
      messages_last_minute: null,
      last_minute_at: null,
    });
    const byHand = newFunction({ breaker: stage.breaker({ resetMinutes: 0 }) });
    expect((await look(byHand)).body).toMatchObject({ state: 'tripped', closes_at: null });
  });

  it('is recognised if the owner has deployed one frame a second, or another number by hand', async () => {
    stage.framesPerSecond = 1;
    const slow = newFunction({ breaker: stage.breaker({ framesPerSecond: 1 }) });
    expect((await look(slow)).body).toMatchObject({ state: 'closed' });
    stage.framesPerSecond = 50;
    expect((await look()).body).toMatchObject({ state: 'closed', frames_per_second_max: 50 });
  });

  it('causes at most one request to API Gateway in ten seconds, for any loop of requests [SEC-API-1]', async () => {
    const handler = newFunction();
    await Promise.all(Array.from({ length: 30 }, () => look(handler)));
    expect(stage.looks).toBe(1);
    nowMs += 9_999;
    stage.framesPerSecond = 1;
    expect((await look(handler)).body).toMatchObject({ state: 'closed' });
    nowMs += 1;
    expect((await look(handler)).body).toMatchObject({ state: 'tripped' });
    expect(stage.looks).toBe(2);
  });

  it('is unknown if API Gateway does not answer, and is not asked for again at once', async () => {
    stage.isSilent = true;
    const handler = newFunction();
    for (let times = 0; times < 5; times += 1)
      expect(await look(handler)).toMatchObject({
        status: 503,
        body: { message: 'The state of the breaker is unknown: API Gateway answered 429: slow down' },
      });
    expect(stage.looks).toBe(1);
    stage.isSilent = false;
    nowMs += 10_000;
    expect(await look(handler)).toMatchObject({ status: 200 });
  });

  it('is the same for all tenants, and missing if the owner wants none', async () => {
    const request = { method: 'GET', path: '/breaker' };
    const of = { headers: { 'apus-tenant': 'acme' } };
    expect(await call(newFunction(), request, of)).toMatchObject({ status: 200 });
    expect(await look(newFunction({}))).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
  });
});

describe('the quotas of a deployment', () => {
  interface Quota {
    readonly scope: string;
    readonly name: string;
    readonly max: number;
    readonly used: number | null;
  }
  const quotasOf = async (tenant: string, parts?: ApiParts) => {
    const headers = { 'apus-tenant': tenant };
    const { body } = await call(newFunction(parts), { method: 'GET', path: '/quotas' }, { headers });
    const { data } = body as { readonly data: readonly Quota[] };
    return (scope: string, name: string) =>
      data.find((quota) => quota.scope === scope && quota.name === name);
  };

  it('report what the clients of a tenant use of them, and what all have sent', async () => {
    stage.lastMinute = { atMs: NOW_MS, value: 12 };
    const quota = await vi.waitFor(async () => {
      const found = await quotasOf('default');
      expect(found('tenant', 'connectionsMax')).toMatchObject({ max: 900_000, used: 1 });
      return found;
    }, PATIENCE_MS);
    expect(quota('tenant', 'sessionsMax')).toMatchObject({ max: 900_000, used: 2 });
    expect(quota('broker', 'messagesPerMinuteMax')).toMatchObject({ max: 70_000, used: 12 });
    expect(quota('identity', 'framesPerSecondMax')).toMatchObject({ max: 100, used: null });
    expect(quota('tenant', 'bytesPerSecondMax')).toBeUndefined();
  });

  it('are those of its plan if a tenant has one, and reveal nothing of another tenant [SEC-TENANT-4]', async () => {
    const quota = await quotasOf('acme');
    expect(quota('tenant', 'connectionsMax')).toMatchObject({ max: 7, used: 0 });
    expect(quota('tenant', 'retainedMessagesMax')).toMatchObject({ max: 3, used: null });
    expect(quota('tenant', 'messagesPerMinuteMax')).toMatchObject({ max: 60_000, used: null });
    // Each environment counts separately: adding the counts up would cost writes (docs/tenants.md).
    expect(quota('tenant', 'deliveriesPerMinuteMax')).toMatchObject({ max: 600, used: null });
  });

  it('are listed even if there is no time to count, and without a breaker', async () => {
    const handler = world.apiFunction({ keysSha256: KEYS }, { clock });
    const event = {
      rawPath: '/api/v5/quotas',
      rawQueryString: '',
      headers: { authorization: 'Bearer a-key-of-the-operator-of-a-deployment' },
      body: null,
      requestContext: { http: { method: 'GET', sourceIp: '192.0.2.1' } },
    };
    const { statusCode, body } = await handler(event, { getRemainingTimeInMillis: () => 14_000 });
    const { data } = JSON.parse(body) as { readonly data: readonly Quota[] };
    expect(statusCode).toBe(200);
    expect(data.find(({ scope, name }) => scope === 'tenant' && name === 'connectionsMax')).toMatchObject({
      used: null,
    });
  });
});
