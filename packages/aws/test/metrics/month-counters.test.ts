import type { GetMetricDataCommandInput } from '@aws-sdk/client-cloudwatch';
import { beforeEach, describe, expect, it } from 'vitest';
import { CloudWatchMetrics, MonthCounters } from '../../src/lambda/index.ts';

const MINUTE_MS = 60_000;
const at = (text: string) => Date.parse(`2026-${text}Z`);

/** CloudWatch with data points of a minute each, which it adds up to the periods of a question, as AWS does. */
class FakeCloudWatch {
  readonly asked: GetMetricDataCommandInput[] = [];
  readonly points: { readonly name: string; readonly atMs: number; readonly value: number }[] = [];
  /** Data points of a page. */
  pageLength = 1_000;

  put(name: string, time: string, value: number): void {
    this.points.push({ name, atMs: at(time), value });
  }

  async send({ input }: { readonly input: GetMetricDataCommandInput }) {
    this.asked.push(input);
    const { MetricDataQueries = [], StartTime = new Date(), EndTime = new Date(), NextToken = '0' } = input;
    const from = Number(NextToken);
    let isCut = false;
    const MetricDataResults = MetricDataQueries.map(({ Id, MetricStat }) => {
      const periodMs = (MetricStat?.Period ?? 0) * 1000;
      const sums = new Map<number, number>();
      for (const { name, atMs, value } of this.points) {
        if (
          name !== MetricStat?.Metric?.MetricName ||
          atMs < StartTime.getTime() ||
          atMs >= EndTime.getTime()
        )
          continue;
        const period = atMs - (atMs % periodMs);
        sums.set(period, (sums.get(period) ?? 0) + value);
      }
      const all = [...sums].sort(([one], [other]) => one - other);
      isCut ||= all.length > from + this.pageLength;
      const page = all.slice(from, from + this.pageLength);
      return { Id, Timestamps: page.map(([ms]) => new Date(ms)), Values: page.map(([, value]) => value) };
    });
    return { MetricDataResults, NextToken: isCut ? String(from + this.pageLength) : undefined };
  }

  /** Metrics that were asked for, which is what AWS bills. */
  get billed(): number {
    return this.asked.reduce((sum, { MetricDataQueries = [] }) => sum + MetricDataQueries.length, 0);
  }
}

let cloudWatch: FakeCloudWatch;
let nowMs: number;

/** An environment of its own. */
const newCounters = () =>
  new MonthCounters(new CloudWatchMetrics(cloudWatch as never, 'Apus-1'), { now: () => nowMs }, [
    'MessagesIn',
    'MessagesOut',
  ]);
const countsOf = async (counters = newCounters()) => Object.fromEntries((await counters.figures()).counts);

beforeEach(() => {
  cloudWatch = new FakeCloudWatch();
  nowMs = at('11-27T12:34:56');
});

describe('the counters of a month', () => {
  it('add up whole hours and the minutes behind them, up to five minutes ago', async () => {
    for (const time of [
      '11-01T00:00:00',
      '11-15T07:30:00',
      '11-27T10:59:00',
      '11-27T11:00:00',
      '11-27T12:28:00',
    ])
      cloudWatch.put('MessagesIn', time, 10);
    cloudWatch.put('MessagesOut', '11-27T12:28:00', 7);
    // Of another month, and too new.
    cloudWatch.put('MessagesIn', '10-31T23:59:00', 1_000);
    cloudWatch.put('MessagesIn', '11-27T12:29:00', 1_000);
    expect(await countsOf()).toEqual({ MessagesIn: 50, MessagesOut: 7 });
  });

  it('never fall, whichever environment is asked, while counts come in late', async () => {
    const [one, other] = [newCounters(), newCounters()];
    let before = 0;
    for (let minute = 0; minute < 180; minute += 1) {
      nowMs = at('11-27T12:00:00') + minute * MINUTE_MS;
      // A line of a log that CloudWatch has read four minutes later.
      cloudWatch.points.push({ name: 'MessagesIn', atMs: nowMs - 4 * MINUTE_MS, value: 10 });
      for (const counters of [one, other, one]) {
        const { MessagesIn = 0 } = await countsOf(counters);
        expect(MessagesIn).toBeGreaterThanOrEqual(before);
        before = MessagesIn;
      }
    }
    expect(before).toBe(1_780);
  });

  it('cost three metrics a minute, however often they are asked, and two an hour', async () => {
    const counters = newCounters();
    await counters.figures();
    expect(cloudWatch.billed).toBe(2 + 3);
    for (let times = 0; times < 10; times += 1) await counters.figures();
    expect(cloudWatch.billed).toBe(5);
    nowMs += MINUTE_MS;
    await counters.figures();
    expect(cloudWatch.billed).toBe(8);
    nowMs += 60 * MINUTE_MS;
    await counters.figures();
    expect(cloudWatch.billed).toBe(13);
  });

  it('begin anew with the month, and say since when they count', async () => {
    cloudWatch.put('MessagesIn', '11-30T23:59:00', 10);
    cloudWatch.put('MessagesIn', '12-01T00:00:00', 1);
    nowMs = at('12-01T00:05:59');
    expect(await countsOf()).toMatchObject({ MessagesIn: 10 });
    nowMs = at('12-01T00:06:00');
    const { since, counts } = await newCounters().figures();
    expect(counts.get('MessagesIn')).toBe(1);
    expect(since).toEqual({ fromMs: at('12-01T00:00:00'), toMs: at('12-01T00:01:00') });
  });

  it('have the connections that the last sweep has counted', async () => {
    expect((await newCounters().figures()).connections).toBeUndefined();
    cloudWatch.put('Connections', '11-27T12:10:00', 4);
    cloudWatch.put('Connections', '11-27T12:20:00', 6);
    expect((await newCounters().figures()).connections).toBe(6);
  });

  it('read an answer of several pages, and give up where there is no end', async () => {
    for (let hour = 0; hour < 24; hour += 1)
      cloudWatch.put('MessagesIn', `11-20T${String(hour).padStart(2, '0')}:00:00`, 1);
    cloudWatch.pageLength = 10;
    expect(await countsOf()).toMatchObject({ MessagesIn: 24 });
    cloudWatch.pageLength = 1;
    await expect(countsOf()).rejects.toThrow('more than 10 pages');
  });

  it('ask for the metrics of one deployment alone', async () => {
    await newCounters().figures();
    const metrics = cloudWatch.asked.flatMap(({ MetricDataQueries = [] }) =>
      MetricDataQueries.map(({ MetricStat }) => MetricStat?.Metric),
    );
    for (const metric of metrics)
      expect(metric).toMatchObject({
        Namespace: 'Apus-1',
        Dimensions: [{ Name: 'service', Value: 'apus' }],
      });
  });
});
