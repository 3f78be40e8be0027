import { CloudWatchClient, PutMetricDataCommand } from '@aws-sdk/client-cloudwatch';
import { describe, expect, it } from 'vitest';
import { ministackOrSkip } from '../../../../test/support/ministack-or-skip.ts';
import { needs } from '../../../../test/support/skips.ts';
import { CloudWatchMetrics } from '../../src/lambda/index.ts';

const MINUTE_MS = 60_000;

const ministack = await ministackOrSkip('monitoring');

describe('a CloudWatch that is not ours', needs('python', ministack), () => {
  it('adds up what was put in, minute by minute, of one namespace', async () => {
    const client = new CloudWatchClient({
      endpoint: ministack?.endpoint ?? '',
      region: 'us-east-1',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    });
    const toMs = Date.now() - (Date.now() % MINUTE_MS);
    const put = async (namespace: string, minutesAgo: number, value: number) => {
      const datum = {
        MetricName: 'MessagesIn',
        Dimensions: [{ Name: 'service', Value: 'apus' }],
        Timestamp: new Date(toMs - minutesAgo * MINUTE_MS),
        Value: value,
        Unit: 'Count' as const,
      };
      await client.send(new PutMetricDataCommand({ Namespace: namespace, MetricData: [datum] }));
    };
    await put('Apus/one', 3, 10);
    await put('Apus/one', 3, 5);
    await put('Apus/one', 2, 1);
    await put('Apus/one', 30, 1_000);
    await put('Apus/other', 2, 1_000);
    const metrics = new CloudWatchMetrics(client, 'Apus/one');
    const range = { fromMs: toMs - 10 * MINUTE_MS, toMs };
    const sum = { statistic: 'Sum', periodSeconds: 60 } as const;
    const queries = [
      { ...sum, name: 'MessagesIn' },
      { ...sum, name: 'MessagesOut' },
    ] as const;
    expect(await metrics.points(queries, range)).toEqual([
      [
        { atMs: toMs - 3 * MINUTE_MS, value: 15 },
        { atMs: toMs - 2 * MINUTE_MS, value: 1 },
      ],
      [],
    ]);
  });
});
