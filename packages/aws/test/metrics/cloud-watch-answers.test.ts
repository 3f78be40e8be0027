import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type CloudWatchStandIn, startCloudWatch } from '../../../../test/support/cloud-watch.ts';
import { namesOfFigures } from '../../src/api/figures.ts';
import { CloudWatchMetrics, GatewayMessages, MonthCounters } from '../../src/lambda/index.ts';

const NOW_MS = Date.parse('2026-11-27T12:34:56Z');
const MINUTE_MS = 60_000;
const at = (text: string) => Date.parse(`2026-${text}Z`);
const OF_FUNCTIONS = { namespace: 'Apus/apus/Broker', dimensions: { service: 'apus' } };
const OF_STAGE = { namespace: 'AWS/ApiGateway', dimensions: { ApiId: 'a1b2c3', Stage: 'mqtt' } };

let cloudWatch: CloudWatchStandIn;
let nowMs: number;
const clock = { now: () => nowMs };
const warnings: string[] = [];
const log = { debug() {}, info() {}, warn: (event: string) => warnings.push(event), error() {} };

beforeEach(async () => {
  nowMs = NOW_MS;
  warnings.length = 0;
  cloudWatch = await startCloudWatch(() => nowMs);
  onTestFinished(() => cloudWatch.stop());
});

const newCounters = () =>
  new MonthCounters(
    new CloudWatchMetrics(cloudWatch.client, OF_FUNCTIONS.namespace),
    clock,
    namesOfFigures(true),
  );
const newMessages = () =>
  new GatewayMessages(
    new CloudWatchMetrics(cloudWatch.client, OF_STAGE.namespace, OF_STAGE.dimensions),
    clock,
    log,
  );

describe('what CloudWatch answers', () => {
  it('is added up: hours of a month that is nearly over, and the minutes behind them', async () => {
    nowMs = at('11-30T23:00:30');
    const put = (name: string, time: string, value: number) =>
      cloudWatch.put({ ...OF_FUNCTIONS, name, atMs: at(time), value });
    put('MessagesIn', '11-01T00:00:00', 100);
    put('MessagesIn', '11-30T22:54:00', 7);
    put('MessagesOut', '11-12T10:30:00', 1_000);
    put('Connections', '11-30T22:40:00', 42);
    // Of another deployment, and of one tenant.
    cloudWatch.put({
      ...OF_FUNCTIONS,
      namespace: 'Apus/b',
      name: 'MessagesIn',
      atMs: at('11-12T00:00:00'),
      value: 1,
    });
    const dimensions = { service: 'apus', tenant: 'acme' };
    cloudWatch.put({ ...OF_FUNCTIONS, dimensions, name: 'MessagesIn', atMs: at('11-12T00:00:00'), value: 1 });
    const { counts, connections } = await newCounters().figures();
    expect(counts.get('MessagesIn')).toBe(107);
    expect(counts.get('MessagesOut')).toBe(1_000);
    expect(counts.get('TokensRefused')).toBe(0);
    expect(connections).toBe(42);
  });

  it('is read to its last page', async () => {
    for (let day = 1; day <= 26; day += 1)
      cloudWatch.put({
        ...OF_FUNCTIONS,
        name: 'MessagesIn',
        atMs: at(`11-${String(day).padStart(2, '0')}T12:00:00`),
        value: day,
      });
    cloudWatch.pageLength = 5;
    expect((await newCounters().figures()).counts.get('MessagesIn')).toBe(351);
  });

  it.each(['InternalError', 'PartialData', 'Forbidden'] as const)(
    'is no answer where it is not all (%s): a counter never falls',
    async (status) => {
      cloudWatch.put({ ...OF_FUNCTIONS, name: 'MessagesIn', atMs: at('11-12T10:30:00'), value: 3 });
      cloudWatch.status = status;
      const counters = newCounters();
      await expect(counters.figures()).rejects.toThrow(`not given all points: ${status}`);
      cloudWatch.status = undefined;
      expect((await counters.figures()).counts.get('MessagesIn')).toBe(3);
    },
  );
});

describe('the messages of a stage in the last minute', () => {
  const put = (minutesAgo: number, value: number) =>
    cloudWatch.put({
      ...OF_STAGE,
      name: 'MessageCount',
      atMs: NOW_MS - (NOW_MS % MINUTE_MS) - minutesAgo * MINUTE_MS,
      value,
    });

  it('are those of the newest minute that is over and counted', async () => {
    put(0, 1);
    put(1, 2);
    put(2, 99_000);
    put(3, 5);
    expect(await newMessages().lastMinute()).toEqual({ atMs: at('11-27T12:32:00'), value: 99_000 });
  });

  it('are unknown where there were none for five minutes', async () => {
    put(7, 10);
    expect(await newMessages().lastMinute()).toBeUndefined();
  });

  it('cost a metric a minute, however often they are asked', async () => {
    const messages = newMessages();
    await Promise.all(Array.from({ length: 50 }, () => messages.lastMinute()));
    expect(cloudWatch.billed()).toBe(1);
    nowMs += MINUTE_MS;
    await messages.lastMinute();
    expect(cloudWatch.billed()).toBe(2);
  });

  it('are unknown, and warned of once a minute, where CloudWatch fails', async () => {
    cloudWatch.status = 'InternalError';
    const messages = newMessages();
    for (let times = 0; times < 5; times += 1) expect(await messages.lastMinute()).toBeUndefined();
    expect(warnings).toEqual(['gateway-messages-unknown']);
    expect(cloudWatch.billed()).toBe(1);
  });
});
