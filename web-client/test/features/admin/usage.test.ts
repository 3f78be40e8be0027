import { expect, it } from 'vitest';
import type { UsageLine } from '../../../src/features/admin/admin-api.ts';
import { byTenant, pointsOf, questionOf } from '../../../src/features/admin/usage.ts';

const NOW_MS = Date.UTC(2026, 10, 25, 18, 30);

const line = (tenant: string, time: string, messages: number): UsageLine => ({
  ...{ tenant, time, connectionMs: 1_800_000, messagesIn: messages, bytesIn: 10, bytesOut: 20 },
  ...{ messagesOutQos0: 1, messagesOutQos1: 2, messagesOutQos2: 3 },
});

it('asks for two days by the hour, and for a month by the day', () => {
  expect(questionOf('hour', NOW_MS)).toEqual({ by: 'hour', from: '2026-11-23T18' });
  expect(questionOf('day', NOW_MS)).toEqual({ by: 'day', from: '2026-10-25' });
});

it('has a point for each hour or day, of all tenants together, also without usage', () => {
  const lines = [line('a', '2026-11-25T17', 5), line('b', '2026-11-25T17', 7), line('a', '2026-11-23T18', 1)];
  const points = pointsOf(lines, 'hour', NOW_MS);
  expect(points).toHaveLength(49);
  expect(points[0]).toEqual({ atMs: Date.UTC(2026, 10, 23, 18), messagesIn: 1, messagesOut: 6 });
  expect(points.at(-2)).toMatchObject({ messagesIn: 12, messagesOut: 12 });
  expect(points.at(-1)).toMatchObject({ messagesIn: 0, messagesOut: 0 });
  expect(pointsOf([], 'day', NOW_MS)).toHaveLength(32);
});

it('adds up each tenant, the busiest first', () => {
  const lines = [
    line('a', '2026-11-25T17', 1),
    line('b', '2026-11-25T17', 10),
    line('a', '2026-11-25T18', 2),
  ];
  expect(byTenant(lines)).toMatchObject([
    { tenant: 'b', messagesIn: 10, connectionHours: 0.5 },
    { tenant: 'a', messagesIn: 3, messagesOut: 12, connectionHours: 1, bytesIn: 20, bytesOut: 40 },
  ]);
});
