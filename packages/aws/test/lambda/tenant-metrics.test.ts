import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FunctionMetrics } from '../../src/lambda/function-metrics.ts';
import { OTHER_TENANTS, TenantMeter } from '../../src/metrics/tenant-meter.ts';

describe('the traffic of tenants', () => {
  it('has the largest by their names, and all others in one', () => {
    const meter = new TenantMeter(2);
    meter.add('small', { messagesIn: 1 });
    meter.add('large', { messagesIn: 5, messagesOutQos1: 20 });
    meter.add('middle', { messagesOutQos0: 3, messagesOutQos2: 4 });
    meter.add('tiny', { messagesIn: 1, messagesOutQos0: 1 });
    meter.add('silent', { connectionMs: 9 });
    expect(meter.take()).toEqual([
      { tenant: 'large', messagesIn: 5, messagesOut: 20 },
      { tenant: 'middle', messagesIn: 0, messagesOut: 7 },
      { tenant: OTHER_TENANTS, messagesIn: 2, messagesOut: 1 },
    ]);
    expect(meter.take()).toEqual([]);
  });

  it('stays as small where tokens name ever more tenants, and loses no message', () => {
    const meter = new TenantMeter(3);
    for (let index = 0; index < 5_000; index += 1) meter.add(`tenant-${index}`, { messagesIn: 1 });
    const taken = meter.take();
    expect(taken).toHaveLength(4);
    expect(taken.reduce((sum, { messagesIn }) => sum + messagesIn, 0)).toBe(5_000);
  });
});

describe('the lines of CloudWatch', () => {
  const lines: Record<string, unknown>[] = [];

  beforeEach(() => {
    lines.length = 0;
    vi.stubEnv('POWERTOOLS_DEV', 'true');
    vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'false');
    vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(JSON.parse(line)));
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  });

  it('name a tenant in a dimension of their own, and leave those of all tenants as they are', () => {
    let nowMs = 0;
    const tenants = new TenantMeter(1);
    const metrics = new FunctionMetrics('Apus/a/Broker', { now: () => nowMs }, tenants);
    metrics.add('MessagesIn', 3);
    tenants.add('acme', { messagesIn: 2, messagesOutQos1: 7 });
    tenants.add('globex', { messagesIn: 1 });
    nowMs = 60_000;
    metrics.flushWhenDue();
    const dimensionsOf = (line: Record<string, unknown> | undefined) =>
      (line as { _aws: { CloudWatchMetrics: { Dimensions: string[][] }[] } } | undefined)?._aws
        .CloudWatchMetrics[0]?.Dimensions;
    expect(lines).toMatchObject([
      { service: 'apus', MessagesIn: 3 },
      { service: 'apus', tenant: 'acme', TenantMessagesIn: 2, TenantMessagesOut: 7 },
      { service: 'apus', tenant: OTHER_TENANTS, TenantMessagesIn: 1, TenantMessagesOut: 0 },
    ]);
    expect(lines.map(dimensionsOf)).toEqual([
      [['service']],
      [['service', 'tenant']],
      [['service', 'tenant']],
    ]);
    // The next line of all tenants has no dimension left over.
    metrics.add('MessagesIn', 1);
    metrics.flush();
    expect(dimensionsOf(lines.at(-1))).toEqual([['service']]);
    expect(lines).toHaveLength(4);
  });
});
