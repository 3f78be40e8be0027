import { CloudWatchMetrics, MonthCounters } from '@apus/aws/lambda';
import { namesOfFigures } from '@apus/aws/testing';
import { billOf, estimate } from '@apus/cost';
import { expect, it, onTestFinished } from 'vitest';
import { startCloudWatch } from '../support/cloud-watch.ts';

const HOUR_MS = 3_600_000;
const STARTED_MS = Date.parse('2026-11-10T00:00:30Z');

it.each([
  [60, '5.34'],
  [12, '1.13'],
])(
  'a Prometheus that scrapes %d times an hour reads the metrics that the estimate bills',
  async (perHour, usd) => {
    let nowMs = STARTED_MS;
    const cloudWatch = await startCloudWatch(() => nowMs);
    onTestFinished(() => cloudWatch.stop());
    const metrics = new CloudWatchMetrics(cloudWatch.client, 'Apus/apus/Broker');
    const counters = new MonthCounters(metrics, { now: () => nowMs }, namesOfFigures(false));
    await counters.figures();
    const before = cloudWatch.billed();
    for (let scrape = 0; scrape < 24 * perHour; scrape += 1) {
      nowMs += HOUR_MS / perHour;
      await counters.figures();
    }
    const read = estimate({ clients: 1, figuresPerHour: perHour }).usage.metricsRead;
    expect(cloudWatch.billed() - before).toBe((read / 730) * 24);
    expect(billOf({ metricsRead: read }).usd.toFixed(2)).toBe(usd);
  },
);
