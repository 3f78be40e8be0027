import { expect, test } from 'vitest';
import { measured, measuredMs, workloadOf } from '../../../src/features/admin/month-workload.ts';

const MINUTE_MS = 60_000;
const HALF_DAY_MS = 12 * 60 * MINUTE_MS;

const METRICS = {
  uptime_seconds: 120,
  'messages.received': 40,
  'messages.sent': 120,
  'messages.qos1.received': 40,
  'bytes.received': 40 * 120,
};

test('a broker is priced with its clients, and with its messages in and out', () => {
  const found = measured({ 'live_connections.count': 4 }, METRICS, measuredMs(METRICS, false, 0));
  expect(found).toMatchObject({ spanMs: 2 * MINUTE_MS, messages: 160 });
  expect(found && workloadOf(found)).toEqual({
    clients: 4,
    publishesPerHour: 300,
    fanOut: 3,
    qos: 1,
    bytes: 120,
  });
});

test('a deployment has counted since the month began in UTC', () => {
  expect(measuredMs({}, true, Date.UTC(2026, 4, 1, 12))).toBe(HALF_DAY_MS);
});

test('nothing is priced before there is something to measure', () => {
  expect(measured({}, {}, MINUTE_MS)).toBeUndefined();
  expect(measured({}, METRICS, 0)).toBeUndefined();
});

test('a broker that only sends is priced with sizes of the cost model', () => {
  const found = measured({}, { 'messages.sent': 60 }, MINUTE_MS);
  expect(found && workloadOf(found)).toEqual({ clients: 1, publishesPerHour: 3_600, fanOut: 1 });
});
